package storage_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage"
)

func TestSpace(t *testing.T) {
	is := is.New(t)
	s, err := open(t, &storage.Options{MinFree: 12345}).Space()
	is.NoErr(err)
	is.True(s.Free > 0 && s.Total >= s.Free)
	is.Equal(s.Reserve, int64(12345))
}
