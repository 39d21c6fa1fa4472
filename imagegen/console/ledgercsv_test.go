package console_test

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// rows reads a file of comma-separated values.
func (a answer) rows(t *testing.T) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var csvHead = []string{"time", "kind", "credits", "balance", "charged", "used", "refunded", "generation", "reference",
	"member"}

func TestLedgerCSV(t *testing.T) {
	s := open(t)
	v, bob := s.signedIn("alice"), s.signedIn("bob")
	s.is.True(!v.get("credits").has("Download as CSV"))
	s.is.Equal(cmp.Diff([][]string{csvHead}, v.get("credits/ledger.csv").rows(t)), "")

	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: v.user.ID, Credits: 100, Ref: "invoice, \"7\""})
	s.is.NoErr(err)
	s.Grant(t, bob.user.ID, 100)
	g, err := v.generate("a hare [fake:images=1]")
	s.is.NoErr(err)
	s.is.True(v.get("credits").has(`href="/console/credits/ledger.csv" download>Download as CSV`))

	a := v.get("credits/ledger.csv")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(a.Header.Get("Content-Type"), "text/csv; charset=utf-8; header=present")
	s.is.Equal(a.Header.Get("Content-Disposition"), `attachment; filename="credits-`+
		s.clock.Now().Format(time.DateOnly)+`.csv"`)
	rows := a.rows(t)
	for _, row := range rows[1:] {
		_, err := time.Parse(time.RFC3339, row[0])
		s.is.NoErr(err)
		row[0] = ""
	}
	s.is.Equal(cmp.Diff([][]string{
		csvHead,
		{"", "settle", "1", "99", "2", "1", "1", string(g.ID), "", ""},
		{"", "charge", "-2", "98", "", "", "", string(g.ID), "", ""},
		{"", "grant", "100", "100", "", "", "", "", `invoice, "7"`, ""},
	}, rows), "")
	head := v.do(http.MethodHead, "credits/ledger.csv", nil)
	s.is.Equal(head.Header.Get("Content-Type"), a.Header.Get("Content-Type"))
	s.is.Equal(head.body, "")
}

// No text begins a formula in a spreadsheet.
func TestLedgerCSVIsNoProgram(t *testing.T) {
	s, b := withBook(t)
	for ref, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\n=1": "'\n=1",
		"invoice =1": "invoice =1", "console-XYZ": "",
	} {
		b.entries = []imagegen.Entry{{Seq: 1, Kind: imagegen.EntryCharge, Credits: -3, Charge: imagegen.ChargeID(ref),
			Ref: ref}}
		row := s.signedIn("user" + strconv.Quote(ref)).get("credits/ledger.csv").rows(t)[1]
		s.is.Equal(row[8], want)
		s.is.True(row[7] == want || want == "")
		s.is.Equal(row[2], "-3") // a number stays one
	}
}

// longLedger is n entries, the newest first.
func longLedger(n int) (entries []imagegen.Entry) {
	for i := range n {
		entries = append(entries, imagegen.Entry{Seq: uint64(n - i), Kind: imagegen.EntryGrant, Credits: 1,
			Balance: imagegen.Credits(n - i)})
	}
	return entries
}

// A long ledger is sent in parts, while it is read.
func TestLongLedgerCSV(t *testing.T) {
	s, b := withBook(t)
	v := s.signedIn("alice")
	const n = 20_001
	b.entries = longLedger(n)
	rows := v.get("credits/ledger.csv").rows(t)
	s.is.Equal(len(rows), n+1)
	for i, row := range rows[1:] {
		s.is.Equal(row[3], strconv.Itoa(n-i))
	}
	s.is.Equal(b.most, 500)

	w := httptest.NewRecorder()
	var written []int // bytes, whenever more was read from the ledger
	b.read = func() { written = append(written, w.Body.Len()) }
	v.ServeHTTP(w, v.request(http.MethodGet, "credits/ledger.csv", nil))
	s.is.Equal(len(written), n/500+2)
	for i := range written[1:] {
		s.is.True(i == 0 || written[i+1] > written[i])
	}
}

// A download that fails is cut off, so that it does not look complete.
func TestLedgerCSVFails(t *testing.T) {
	s, b := withBook(t)
	v := s.signedIn("alice")
	b.entries = longLedger(2000)
	b.fails = 1
	s.is.Equal(v.get("credits/ledger.csv").StatusCode, http.StatusInternalServerError) // nothing was sent yet

	ctx, cancel := context.WithCancel(t.Context())
	for name, fail := range map[string]func(){"a fault": func() { b.fails = 3 }, "the end of the service": func() {
		b.read = cancel
	}} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			b.calls, b.fails, b.read = 0, 0, nil
			fail()
			defer func() { is.Equal(recover(), http.ErrAbortHandler) }()
			v.ServeHTTP(httptest.NewRecorder(), v.request(http.MethodGet, "credits/ledger.csv", nil).WithContext(ctx))
			t.Error("the answer looks whole")
		})
	}
}

// A ledger is cut off when the sign-in ends.
func TestSignInEndsMidLedger(t *testing.T) {
	s, b := withBook(t)
	v := s.signedIn("alice")
	b.entries = longLedger(2000)
	reads := 0
	b.read = func() {
		if reads++; reads == 2 {
			s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID))
		}
	}
	w := httptest.NewRecorder()
	func() {
		defer func() { s.is.Equal(recover(), http.ErrAbortHandler) }()
		v.ServeHTTP(w, v.request(http.MethodGet, "credits/ledger.csv", nil))
	}()
	s.is.Equal(strings.Count(w.Body.String(), "grant"), 1000)
}
