package cli_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

func TestOpenAPI(t *testing.T) {
	is := is.New(t)
	p := imagegend(t, nil, "openapi")
	is.Equal(p.code, 0)
	is.Equal(p.stdout, string(openapi.Document()))
	is.Equal(p.stderr, "")
}
