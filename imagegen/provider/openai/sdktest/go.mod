module github.com/imagegend/imagegend/imagegen/provider/openai/sdktest

go 1.26.0

replace github.com/imagegend/imagegend => ../../../..

require (
	github.com/imagegend/imagegend v0.0.0-00010101000000-000000000000
	github.com/matryer/is v1.4.1
	github.com/openai/openai-go/v3 v3.95.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
