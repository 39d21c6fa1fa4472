module github.com/imagegend/imagegend/bench

go 1.26.0

require (
	github.com/imagegend/imagegend v0.0.0-00010101000000-000000000000
	github.com/imagegend/imagegend/imagegen/console v0.0.0-00010101000000-000000000000
	github.com/imagegend/imagegend/imagegen/storage/postgres v0.0.0-00010101000000-000000000000
	github.com/julienschmidt/httprouter v1.3.0
	github.com/matryer/is v1.4.1
	go.etcd.io/bbolt v1.5.0
	golang.org/x/image v0.47.0
	golang.org/x/sync v0.24.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.12.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	github.com/imagegend/imagegend => ..
	github.com/imagegend/imagegend/imagegen/console => ../imagegen/console
	github.com/imagegend/imagegend/imagegen/storage/postgres => ../imagegen/storage/postgres
)
