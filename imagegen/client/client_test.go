package client_test

import (
	"net/http/httptest"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/matryer/is"
)

func TestOverHTTP(t *testing.T) {
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture {
		e := imagegentest.Start(t)
		server := httptest.NewServer(httpapi.NewHandler(e.Engine, httpapi.Options{}))
		t.Cleanup(server.Close)
		as := func(u imagegen.UserID) imagegen.Service {
			c, err := client.New(server.URL, e.Key(t, u), nil)
			is.New(t).NoErr(err)
			return c
		}
		return imagegentest.Fixture{Alice: as(imagegentest.Alice), Bob: as(imagegentest.Bob)}
	})
}
