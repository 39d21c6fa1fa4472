package admin_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
)

// A ledger that refuses is told from one that fails: whoever repeats the call is refused again.
func TestARefusalOfTheLedgerIsFinal(t *testing.T) {
	for err, want := range map[error]int{
		fmt.Errorf("the ledger refuses: %w", imagegen.ErrChargeConflict):      http.StatusUnprocessableEntity,
		fmt.Errorf("the ledger refuses: %w", imagegen.ErrInsufficientCredits): http.StatusUnprocessableEntity,
		fmt.Errorf("it failed: %w", imagegen.ErrNotApplied):                   http.StatusInternalServerError,
		fmt.Errorf("it failed: %w", errors.New("no route to host")):           http.StatusInternalServerError,
	} {
		status, _ := admin.StatusOf(http.StatusUnprocessableEntity, err)
		is.New(t).Equal(status, want)
	}
}
