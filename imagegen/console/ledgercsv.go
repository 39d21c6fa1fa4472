package console

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// csvBatch is how many entries a download holds in memory at once.
const csvBatch = 500

var csvColumns = []string{"time", "kind", "credits", "balance", "charged", "used", "refunded", "generation", "reference"}

func (c *Console) ledgerCSV(p *page) error { return c.sendLedger(p, p.person.ID) }

// sendLedger sends the whole ledger of a user, newest first. What is entered meanwhile is not in it.
func (c *Console) sendLedger(p *page, u imagegen.UserID) error {
	next := func(before uint64) ([]imagegen.Entry, error) {
		return c.cfg.Ledger.History(p.context(), u, before, csvBatch)
	}
	entries, err := next(0)
	if err != nil {
		return err
	}
	p.w.Header().Set("Content-Disposition", `attachment; filename="credits-`+p.now.UTC().Format(time.DateOnly)+`.csv"`)
	rows := csv.NewWriter(p.stream("text/csv; charset=utf-8; header=present"))
	if p.r.Method == http.MethodHead {
		return nil
	}
	rows.Write(csvColumns) // its error comes with that of Flush, as those below
	control := http.NewResponseController(p.w)
	for len(entries) > 0 {
		control.SetWriteDeadline(time.Now().Add(answerTime)) // a long ledger may take longer in all
		for _, e := range entries {
			rows.Write(csvRow(e))
		}
		if rows.Flush(); rows.Error() != nil {
			return rows.Error()
		}
		if entries, err = next(entries[len(entries)-1].Seq); err != nil {
			return err
		}
	}
	rows.Flush()
	return rows.Error()
}

// csvRow is an entry in the order of csvColumns. A number is that and no text, also where it is negative.
func csvRow(e imagegen.Entry) []string {
	row := []string{e.Time.UTC().Format(time.RFC3339), string(e.Kind), number(e.Credits), number(e.Balance),
		"", "", "", text(string(e.Charge)), text(reference(e.Ref))}
	if e.Kind == imagegen.EntrySettle {
		row[4], row[5], row[6] = number(e.Used+e.Credits), number(e.Used), number(e.Credits)
	}
	return row
}

func number(n imagegen.Credits) string { return strconv.FormatInt(int64(n), 10) }

// text keeps a spreadsheet from reading a text as a formula.
func text(s string) string {
	if s != "" && strings.Contains("=+-@\t\r\n", s[:1]) {
		return "'" + s
	}
	return s
}
