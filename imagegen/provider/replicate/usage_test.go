package replicate_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// The time of a prediction counts however it has ended, and a figure that cannot be right costs no image.
func TestPredictTime(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`"status":"succeeded","output":"http://HOST/files/64x64","metrics":{"predict_time":0.012683}`: 12683 *
			time.Microsecond,
		`"status":"failed","error":"CUDA out of memory","metrics":{"predict_time":3}`:             3 * time.Second,
		`"status":"canceled","metrics":{"predict_time":1.5,"total_time":9}`:                       1500 * time.Millisecond,
		`"status":"aborted","metrics":{}`:                                                         0,
		`"status":"succeeded","output":"http://HOST/files/64x64"`:                                 0,
		`"status":"succeeded","output":"http://HOST/files/64x64","metrics":null`:                  0,
		`"status":"succeeded","output":"http://HOST/files/64x64","metrics":[7]`:                   0,
		`"status":"succeeded","output":"http://HOST/files/64x64","metrics":{"predict_time":"3"}`:  0,
		`"status":"succeeded","output":"http://HOST/files/64x64","metrics":{"predict_time":-3}`:   0,
		`"status":"succeeded","output":"http://HOST/files/64x64","metrics":{"predict_time":1e99}`: 0,
	} {
		t.Run(body, func(t *testing.T) {
			is := is.New(t)
			d := double()
			d.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					io.WriteString(w, "{"+strings.ReplaceAll(body, "HOST", r.Host)+"}")
				}
				return r.Method == http.MethodGet
			}
			r := providertest.Request("a fox", 1)
			used := providertest.Used(&r)
			sizes, _ := providertest.Collect(t.Context(), serve(t, d, nil), r)
			is.Equal(len(sizes) == 1, strings.Contains(body, "succeeded"))
			is.Equal(used(), imagegen.UpstreamUsage{Time: want})
		})
	}
}
