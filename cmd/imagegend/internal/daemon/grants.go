package daemon

import (
	"fmt"
	"net/http"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/shell"
)

// tellOfGrants has the log of --dev say how to get more credits once they are used up: with --dev the caller is the
// operator. Other callers could do nothing with an operator's command.
func (d *daemon) tellOfGrants(api http.Handler) http.Handler {
	if !d.options.Dev {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told := &told{ResponseWriter: w}
		api.ServeHTTP(told, r)
		if told.status == http.StatusPaymentRequired {
			d.log.Warn("the credits are used up; for more, run in another terminal: " +
				fmt.Sprintf("imagegend credit grant --user %s %d --data-dir %s", devUser, devCredits, shell.Quote(d.options.DataDir)))
		}
	})
}
