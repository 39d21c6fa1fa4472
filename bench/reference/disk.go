package main

import (
	"errors"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// disk is a bbolt file with one committer, which commits together what waits, and a directory of images.
type disk struct {
	bolt   *bbolt.DB
	queue  chan write
	images string
}

// write puts a few values.
type write struct {
	values []value
	done   chan error
}

type value struct{ bucket, key, value []byte }

const mostWrites = 1024

var buckets = [][]byte{[]byte("keys"), []byte("generations"), []byte("index"), []byte("journal"), []byte("accounts"),
	[]byte("hashes")}

func openDisk(dir string) (*disk, error) {
	images := filepath.Join(dir, "images")
	if err := os.MkdirAll(images, 0o700); err != nil {
		return nil, err
	}
	bolt, err := bbolt.Open(filepath.Join(dir, "reference.db"), 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, InitialMmapSize: 1 << 30,
	})
	if err != nil {
		return nil, err
	}
	err = bolt.Update(func(t *bbolt.Tx) error {
		var errs []error
		for _, b := range buckets {
			_, err := t.CreateBucketIfNotExists(b)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	d := &disk{bolt, make(chan write, mostWrites), images}
	go d.commit()
	return d, err
}

// put returns when the values are durable.
func (d *disk) put(values ...value) error {
	w := write{values, make(chan error, 1)}
	d.queue <- w
	return <-w.done
}

func (d *disk) commit() {
	for first := range d.queue {
		batch := []write{first}
		for len(batch) < mostWrites && len(d.queue) > 0 {
			batch = append(batch, <-d.queue)
		}
		err := d.bolt.Update(func(t *bbolt.Tx) error { return putAll(t, batch) })
		for _, w := range batch {
			w.done <- err
		}
	}
}

func putAll(t *bbolt.Tx, batch []write) error {
	for _, w := range batch {
		for _, v := range w.values {
			if err := t.Bucket(v.bucket).Put(v.key, v.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// get calls f with a value that is valid until f returns.
func (d *disk) get(bucket, key []byte, f func(value []byte)) error {
	return d.bolt.View(func(t *bbolt.Tx) error {
		f(t.Bucket(bucket).Get(key))
		return nil
	})
}

// putImage stores an image as durably as the real service does.
func (d *disk) putImage(id string, b []byte) error {
	f, err := os.CreateTemp(d.images, "temp-")
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(d.images, id)); err != nil {
		return err
	}
	return syncDir(d.images)
}

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
