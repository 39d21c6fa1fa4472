module github.com/imagegend/imagegend/deploy/proxies

go 1.26.0

replace github.com/imagegend/imagegend => ../..

require (
	github.com/imagegend/imagegend v0.0.0-00010101000000-000000000000
	github.com/matryer/is v1.4.1
)

require github.com/oklog/ulid/v2 v2.1.2 // indirect
