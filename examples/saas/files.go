package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// files are images and reference images in a table, so that all processes have them and the database is all that the
// shop needs. Each is in memory while it is read or written: a shop with larger ones, or many, has an object store
// (package s3).
type files struct{ pool *pgxpool.Pool }

var (
	_ imagegen.ImageStore = (*files)(nil)
	_ imagegen.Spool      = (*files)(nil)
)

// attemptName is what the names of the images of an attempt begin with.
func attemptName(g imagegen.GenerationID, attempt int) string {
	return fmt.Sprintf("%s/%d/", g, attempt)
}

func imageName(k imagegen.ImageKey) string {
	return attemptName(k.Generation, k.Attempt) + string(k.Image)
}

// PutImage implements [imagegen.ImageStore].
func (f *files) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return f.put(ctx, imageName(k), r, true)
}

// Stage implements [imagegen.Spool].
func (f *files) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return f.put(ctx, string(id), r, false)
}

func (f *files) put(ctx context.Context, name string, r io.Reader, keep bool) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, err = f.pool.Exec(ctx, `insert into shop.files (name, bytes, kept) values ($1, $2, $3)
 on conflict (name) do update set bytes = excluded.bytes, kept = excluded.kept`, name, content, keep)
	return err
}

// OpenImage implements [imagegen.ImageStore].
func (f *files) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return f.open(ctx, imageName(k))
}

// Open implements [imagegen.Spool].
func (f *files) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return f.open(ctx, string(id))
}

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

func (f *files) open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	var content []byte
	err := f.pool.QueryRow(ctx, `select bytes from shop.files where name = $1`, name).Scan(&content)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, imagegen.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return opened{bytes.NewReader(content)}, nil
}

// RemoveImages implements [imagegen.ImageStore].
func (f *files) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	names := []string{}
	for _, id := range keep {
		names = append(names, attemptName(g, attempt)+string(id))
	}
	_, err := f.pool.Exec(ctx, `delete from shop.files where starts_with(name, $1) and name <> all($2)`,
		attemptName(g, attempt), names)
	return err
}

// Keep implements [imagegen.Spool]. What is committed lasts, so it only tells of what is missing.
func (f *files) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	t, err := f.pool.Exec(ctx, `update shop.files set kept = true where name = any($1)`, ids)
	if err == nil && t.RowsAffected() < int64(len(ids)) {
		err = imagegen.ErrNotFound
	}
	return err
}

// Remove implements [imagegen.Spool].
func (f *files) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	_, err := f.pool.Exec(ctx, `delete from shop.files where name = any($1)`, ids)
	return err
}

// sweep removes reference images of an age that no work needs: a process that was killed has left them.
func (f *files) sweep(ctx context.Context, db *postgres.DB, age time.Duration) error {
	rows, err := f.pool.Query(ctx, `select name from shop.files where name not like '%/%' and made_at <= now() - $1::interval`, age)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[imagegen.ReferenceID])
	if err != nil {
		return err
	}
	needed, err := db.NamedReferences(ctx, ids)
	if err != nil {
		return err
	}
	var left []imagegen.ReferenceID
	for i, id := range ids {
		if !needed[i] {
			left = append(left, id)
		}
	}
	return f.Remove(ctx, left...)
}
