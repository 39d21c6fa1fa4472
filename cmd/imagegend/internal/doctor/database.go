package doctor

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// Database asks the server that has the database open, or else opens it, as any command would. The caller closes the
// session, which is nil if there is none. An empty directory is only a warning: it is what serve begins with.
func Database(ctx context.Context, dir string) (Finding, *adminserver.Session) {
	s, err := adminserver.Open(ctx, config.Data{DataDir: dir})
	// An unreadable directory, and one with other files but no database, is a failure and reported below.
	if entries, unread := os.ReadDir(dir); errors.Is(err, storage.ErrNoDatabase) && unread == nil && len(entries) == 0 {
		return ok("database", "there is none yet").
			but("imagegend serve makes it; if there should be one, name its directory with --data-dir"), nil
	}
	if err != nil {
		return ok("database", "%v", err).fails(remedy(err)), nil
	}
	// Opening has checked the schema, so without a server nothing is left to ask.
	if !s.Server {
		return ok("database", "it opens, and has the schema of this version; no server runs"), s
	}
	f := ok("database", "the server that runs has it open")
	switch r, err := admin.GetReadiness.Do(ctx, s, admin.None{}); {
	case err != nil:
		return f.says("%v", err).fails("look at the log of the server, and whether it is of this version"), s
	case !r.Ready:
		f.Detail += ", and takes no work: " + strings.Join(r.Reasons, ", ")
		return f.but("look at the log of the server"), s
	}
	return f, s
}

// remedy returns what to do about a database that cannot be opened.
func remedy(err error) string {
	switch {
	case errors.Is(err, storage.ErrCorrupt):
		return "stop the service, keep a copy of the directory, and restore a backup"
	case errors.Is(err, storage.ErrNewerSchema):
		return "run the version of imagegend that wrote it, or a newer one"
	case errors.Is(err, storage.ErrNoDatabase):
		return "name the directory that the server uses with --data-dir, or an empty one"
	case errors.Is(err, adminserver.ErrDisk):
		return "look at the disk and the log of the system"
	}
	return "see to it that this user may read and write the directory, and that no other process holds it"
}
