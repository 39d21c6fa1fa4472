package model_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// database is what both storages are.
type database interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.ImageStore
	imagegen.Spool
	imagegen.Inspector
	imagegen.Timekeeper
}

// storeHandle is a storage that can be closed and opened again.
type storeHandle struct {
	database
	now   func() time.Time
	again func() (database, error) // opens it; nil: it lies in memory, and cannot be closed
	dir   string                   // where its files lie; empty: in memory
}

// opener opens an empty storage with a clock.
type opener func(*rapid.T, func() time.Time) *storeHandle

// storages are those that the models are held against.
var storages = map[string]opener{"memory": inMemory, "storage": onDisk}

func inMemory(_ *rapid.T, now func() time.Time) *storeHandle {
	return &storeHandle{database: memory.New(&memory.Options{Now: now}), now: now}
}

func onDisk(t *rapid.T, now func() time.Time) *storeHandle {
	dir := scratch(t)
	h := &storeHandle{now: now, dir: dir, again: func() (database, error) {
		return storage.Open(dir, &storage.Options{Now: now})
	}}
	h.open(t)
	t.Cleanup(func() { h.close(t) })
	return h
}

// onPostgres has images and reference images in memory.
func onPostgres(s *postgrestest.Server) opener {
	return func(t *rapid.T, now func() time.Time) *storeHandle {
		url, files := s.Database(t), memory.New(nil)
		h := &storeHandle{now: now, again: func() (database, error) {
			return postgrestest.Open(postgres.Config{URL: url, Now: now, KeepFor: -1, Connections: 4}, files)
		}}
		h.open(t)
		t.Cleanup(func() { h.close(t) })
		return h
	}
}

func (h *storeHandle) open(t *rapid.T) {
	db, err := h.again()
	if err != nil {
		t.Fatal(err)
	}
	h.database = db
}

func (h *storeHandle) close(t *rapid.T) {
	if db, ok := h.database.(io.Closer); ok {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (h *storeHandle) durable() bool { return h.again != nil }

// audit checks every invariant, a replay of the journal byte for byte among them.
func (h *storeHandle) audit(t *rapid.T) imagegen.AuditReport {
	t.Helper()
	report, err := h.Audit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Errorf("audit: %v", v)
	}
	return report
}

// files counts the regular files under one of the directories of the storage.
func (h *storeHandle) files(t *rapid.T, name string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(h.dir, name), func(_ string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "" {
			n++
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}
