package data

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// The data of several nodes keeps what the database and the object store can do.
func TestSharedForwards(t *testing.T) {
	storagetest.Forwards(t, new(shared), new(postgres.DB))
	storagetest.Forwards(t, new(shared), new(s3.Store))
}
