package doctor

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// Shared looks at a database and an object store that nodes share. It does not ask a server: each node has the same
// data open.
func Shared(ctx context.Context, at config.Data) []Finding {
	return append(sharedDatabase(ctx, at), sharedImages(ctx, at))
}

// sharedDatabase opens the database as a command does, and reports each warning of it as a finding.
func sharedDatabase(ctx context.Context, at config.Data) (findings []Finding) {
	f := ok("database", "%s", at)
	store, err := data.Open(ctx, at, data.Options{})
	if err != nil {
		return []Finding{f.says("%v", err).fails(sharedRemedy(err))}
	}
	defer store.Close()
	// Ready makes the check by which a running server decides whether it takes work.
	if err := store.Ready(ctx); err != nil {
		f = f.says("%v", err).fails(sharedRemedy(err))
	}
	findings = append(findings, f)
	for _, w := range store.Warnings(ctx) {
		findings = append(findings,
			ok("database", "%s", w.Detail).but("docs/scaling.md tells how to set the database up"))
	}
	return findings
}

// sharedRemedy returns what to do about a shared database that cannot be used.
func sharedRemedy(err error) string {
	switch {
	case errors.Is(err, postgres.ErrNewerSchema):
		return "run the version of imagegend that the other nodes run, or a newer one"
	case errors.Is(err, postgres.ErrOlderSchema):
		return "run imagegend migrate as the role that owns the tables; docs/storage.md tells which rights it takes"
	case errors.Is(err, postgres.ErrUnsafe):
		return "set the database up so that it loses nothing; docs/scaling.md tells how"
	}
	return "look whether the database runs, and whether this machine, user and password may reach it with --database"
}

// sharedImages tries the bucket with an object.
func sharedImages(ctx context.Context, at config.Data) Finding {
	f := ok("images", "an object was written to %s, read, listed and removed", at.Images)
	if err := data.CheckImages(ctx, at); err != nil {
		return f.says("%v", err).
			fails("look at the bucket, the endpoint in --images, and the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	return f
}

// Node looks at the directory that a node has for itself beside the shared data.
func Node(dir string) []Finding {
	f, there := Directory(dir)
	if !there || f.State == Fail {
		return []Finding{f}
	}
	return []Finding{f, Disk(dir)}
}
