package ledgerkv

import (
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// How rows are kept, also where they do not lie in kv.

// AccountForm is how an account is kept.
func AccountForm(c *kv.Coder, a *ledger.Account) { accountForm(c, a) }

// LotForm is how a lot is kept.
func LotForm(c *kv.Coder, l *ledger.Lot) { lotForm(c, l) }

// UsageForm is how a row of usage is kept.
func UsageForm(c *kv.Coder, u *ledger.Usage) { usageForm(c, u) }

// TotalForm is how the total of an API key is kept.
func TotalForm(c *kv.Coder, t *ledger.KeyTotal) { totalForm(c, t) }
