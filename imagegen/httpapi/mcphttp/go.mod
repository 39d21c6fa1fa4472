module github.com/imagegend/imagegend/imagegen/httpapi/mcphttp

go 1.26.0

require (
	github.com/imagegend/imagegend v0.0.0-00010101000000-000000000000
	github.com/imagegend/imagegend/imagegen/mcpserver v0.0.0-00010101000000-000000000000
	github.com/matryer/is v1.4.1
	github.com/modelcontextprotocol/go-sdk v1.8.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/julienschmidt/httprouter v1.3.0 // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace (
	github.com/imagegend/imagegend => ../../..
	github.com/imagegend/imagegend/imagegen/mcpserver => ../../mcpserver
)
