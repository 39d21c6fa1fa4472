package doctor

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// Backup looks at the scheduled backups. A running server knows best what became of them. Without one, or if it makes
// none, the settings say where they are, and only their age can be judged. s may be nil.
func Backup(ctx context.Context, settings config.Server, s *adminserver.Session, now time.Time) Finding {
	f := ok("backup", "none is made by the service; --backup-to DIR or s3://… has it make one every %v",
		settings.BackupEvery)
	// A server that makes backups knows of failures too; its settings count more than those of this command.
	if s != nil && s.Server {
		b, err := admin.GetBackups.Do(ctx, s, admin.None{})
		if err != nil {
			return f.says("%v", err).fails("look whether the server is of this version")
		}
		if b.Dir != "" {
			return backedUp(f, b.Dir, b.Last, b.LastAt.Time, b.Trouble, now)
		}
	}
	// There is no server, or it makes no backups. The settings of this command are left.
	if settings.BackupTo == "" {
		return f
	}
	store, err := backups.Open(ctx, settings.BackupTo)
	if err != nil {
		return f.says("%v", err).fails("put --backup-to right")
	}
	all, err := store.List(ctx)
	all = backups.Past(all, now)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.says("there is no %s yet", settings.BackupTo).
			but("imagegend serve makes it; if there should be one, name it with --backup-to")
	case err != nil && backups.InBucket(settings.BackupTo):
		return f.says("%v", err).
			fails("check the bucket, the endpoint and the credentials of --backup-to, and that they may list")
	case err != nil:
		return f.says("%v", err).fails("name a directory that the user of the service may write with --backup-to")
	case len(all) == 0:
		return f.says("there is none yet in %s", settings.BackupTo).
			but("start imagegend serve with --backup-to, or look at its log")
	}
	last := all[len(all)-1]
	// The first argument counts only while there is no archive, and here there is one.
	trouble := backups.State{Every: settings.BackupEvery, Last: last}.Trouble(now, now)
	return backedUp(f, settings.BackupTo, last.Name, last.At, trouble, now)
}

// backedUp is the finding for a service that makes backups. last is "" until the first is made, and trouble is what
// [backups.State.Trouble] says.
func backedUp(f Finding, dir, last string, at time.Time, trouble string, now time.Time) Finding {
	if trouble != "" {
		return f.says("%s", trouble).fails("look at " + dir +
			" and the log of the server; until backups work again, run imagegend backup FILE")
	}
	if last == "" {
		return f.says("the first is being made in %s", dir)
	}
	return f.says("%s in %s is %v old, and was verified", last, dir, now.Sub(at).Round(time.Second))
}
