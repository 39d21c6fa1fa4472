//go:build unix

package postgrestest

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// Storage is all that an engine needs: a database, with the files beside it in memory, which have no optional parts.
type Storage struct {
	*postgres.DB
	imagegen.ImageStore
	imagegen.Spool
}

// Open opens a database, which it migrates, and whose images, which an audit reads, and reference images are those of
// files. It looks for what other processes bring once in a while: hours of virtual time would be thousands of looks at
// the database.
func Open(c postgres.Config, files *memory.DB) (*Storage, error) {
	c.Images, c.Poll, c.Migrate = files, time.Minute, true
	db, err := postgres.Open(context.Background(), c)
	if err != nil {
		return nil, err
	}
	return &Storage{db, files, files}, nil
}

// Joins implements [imagegen.TxStore]: the database joins with itself, also under this name.
func (s *Storage) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(s) || s.DB.Joins(l) }
