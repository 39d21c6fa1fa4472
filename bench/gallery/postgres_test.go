//go:build unix

package gallery

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// The same where PostgreSQL holds them:
//
//	IMAGEGEN_TEST_POSTGRES=1 go test ./bench/gallery -run xxx -bench GalleryOnPostgres -benchtime 200x -timeout 0 -generations 1000000
func BenchmarkGalleryOnPostgres(b *testing.B) {
	db, err := postgres.Open(b.Context(), postgres.Config{Migrate: true, URL: postgrestest.StartOnDisk(b).Database(b)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	began := time.Now().Add(-365 * 24 * time.Hour)
	fill(b, db, began, *many)
	pages(b, db, began)
}
