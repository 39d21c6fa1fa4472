package credits

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// csvBatch is how many entries a download holds in memory at once.
const csvBatch = 500

// csvColumns is the header of the file. Programs may go by it, and docs/console.md lists it.
var csvColumns = []string{"time", "kind", "credits", "balance", "charged", "used", "refunded", "generation",
	"reference", "member"}

// CSV sends the person's own ledger.
func CSV(p *frame.Page) error { return sendLedger(p, p.Person.ID) }

// sendLedger sends the whole ledger of a user, newest first. Entries made meanwhile are not in it, since it reads
// backwards from the newest entry at the beginning. The first batch is read before the answer begins, so that an
// error there is still a page; a later one cuts the download off.
func sendLedger(p *frame.Page, u imagegen.UserID) error {
	next := func(before uint64) ([]imagegen.Entry, error) {
		return p.Ledger.History(p.Context(), u, before, csvBatch)
	}
	entries, err := next(0)
	if err != nil {
		return err
	}
	p.Writer.Header().Set("Content-Disposition",
		`attachment; filename="credits-`+p.Now.UTC().Format(time.DateOnly)+`.csv"`)
	rows := csv.NewWriter(p.Stream("text/csv; charset=utf-8; header=present"))
	if p.Request.Method == http.MethodHead { // or the whole ledger would be read for nothing
		return nil
	}
	rows.Write(csvColumns) // Error returns this one's error too
	control, names := http.NewResponseController(p.Writer), map[imagegen.UserID]string{}
	for len(entries) > 0 {
		// For each batch: a long ledger may take longer in all.
		control.SetWriteDeadline(time.Now().Add(frame.AnswerTime))
		for _, e := range entries {
			if _, known := names[e.Member]; !known {
				names[e.Member] = p.UserName(e.Member)
			}
			rows.Write(csvRow(e, names[e.Member]))
		}
		if rows.Flush(); rows.Error() != nil {
			return rows.Error()
		}
		if err := p.Still(); err != nil { // somebody who reads slowly gets no more than while they are signed in
			return err
		}
		if entries, err = next(entries[len(entries)-1].Seq); err != nil {
			return err
		}
	}
	rows.Flush()
	return rows.Error()
}

// csvRow returns an entry in the order of csvColumns; member is the name of who asked, if somebody else paid. charged,
// used and refunded are set for settlements only. Numbers are not escaped by escapeFormula, also where they begin with
// a minus, so that spreadsheets can add them up.
func csvRow(e imagegen.Entry, member string) []string {
	row := []string{e.Time.UTC().Format(time.RFC3339), string(e.Kind), number(e.Credits), number(e.Balance),
		"", "", "", escapeFormula(string(e.Charge)), escapeFormula(form.EnteredReference(e.Ref)), escapeFormula(member)}
	if e.Kind == imagegen.EntrySettle {
		row[4], row[5], row[6] = number(e.Used+e.Credits), number(e.Used), number(e.Credits)
	}
	return row
}

func number(n imagegen.Credits) string { return strconv.FormatInt(int64(n), 10) }

// escapeFormula puts an apostrophe before a text that a spreadsheet would run as a formula. A reference can come from
// anybody who may grant credits.
func escapeFormula(s string) string {
	if s != "" && strings.Contains("=+-@\t\r\n", s[:1]) {
		return "'" + s
	}
	return s
}
