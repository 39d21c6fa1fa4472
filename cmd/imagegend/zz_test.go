package main_test

import (
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func TestZZ(t *testing.T) {
	db, err := bbolt.Open("/tmp/demo/imagegend-data/imagegend.db", 0o600, &bbolt.Options{Timeout: time.Second})
	t.Log(err)
	db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { t.Log(string(name)); return nil })
	})
}
