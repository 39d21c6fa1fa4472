package openai_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi/openapitest"
)

// witness holds every answer of these tests to the OpenAPI document.
var witness = openapitest.New()

var transport = witness.Transport(http.DefaultTransport)

// TestMain asks at the end whether all that stands in the document was seen.
func TestMain(m *testing.M) { os.Exit(witness.Main(m, openai.Prefix)) }
