package httpapi

import (
	"encoding/csv"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

var usageNames = []string{"from", "to", "group_by"}

// usage answers what the owner of the key was charged, as JSON or as CSV.
func (a *api) usage(x *exchange) error {
	q, err := parseUsage(x.Request.URL.RawQuery)
	if err != nil {
		return err
	}
	r, err := x.session.Usage(x.Ctx, q)
	if err != nil {
		return err
	}
	report := wire.NewUsageReport(r)
	x.Header().Add("Vary", "Accept") // beside Origin
	if prefersCSV(x.Request.Header.Values("Accept")) {
		return x.usageCSV(report)
	}
	return x.JSON(http.StatusOK, report)
}

// parseUsage reads the query. The engine fills in missing days and checks the range.
func parseUsage(raw string) (q imagegen.UsageQuery, err error) {
	err = eachParameter(raw, usageNames, func(name, v string) (err error) {
		switch name {
		case "from":
			q.From, err = parseDay(name, v)
		case "to":
			q.To, err = parseDay(name, v)
		case "group_by":
			q.By, err = parseGroups(v)
		}
		return err
	})
	return q, err
}

// parseDay reads a day in UTC. Days before 1970 are refused: usage cannot be older, see
// [imagegen.UsageDay].
func parseDay(name, v string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, v)
	if err != nil || day.Before(time.Unix(0, 0)) {
		return day, imagegen.Invalid("%s must be a day, in UTC, such as 2026-01-31; got %s", name, serving.Shown(v))
	}
	return day, nil
}

// parseGroups reads a list separated by commas, in which no name may repeat. The engine checks the names.
func parseGroups(v string) (by []imagegen.UsageGroup, err error) {
	for _, name := range strings.Split(v, ",") {
		g := imagegen.UsageGroup(strings.TrimSpace(name))
		if slices.Contains(by, g) {
			return nil, imagegen.Invalid("group_by names %s twice", serving.Shown(name))
		}
		by = append(by, g)
	}
	return by, nil
}

// prefersCSV reports whether a request names text/csv, with a higher q than application/json. Types
// with wildcards do not count, so that a browser gets JSON.
func prefersCSV(accept []string) bool {
	table, object := 0.0, 0.0
	for _, accepted := range strings.Split(strings.Join(accept, ","), ",") {
		mediaType, parameters, err := mime.ParseMediaType(accepted)
		if err != nil {
			continue
		}
		q, err := strconv.ParseFloat(parameters["q"], 64)
		if parameters["q"] == "" || err != nil {
			q = 1
		}
		switch mediaType {
		case "text/csv":
			table = q
		case "application/json":
			object = q
		}
	}
	return table > object
}

var usageColumns = []string{"day", "model", "key", "credits_charged", "credits_refunded", "credits_spent", "images",
	"generations", "failed", "cancelled"}

// usageCSV answers with a report as CSV. A column by which the report does not group is empty.
func (x *exchange) usageCSV(report wire.UsageReport) error {
	out := serving.NewEncoder()
	rows := csv.NewWriter(out)
	byMember, columns := slices.Contains(report.GroupBy, imagegen.UsageByMember), usageColumns
	if byMember {
		columns = append(slices.Clip(columns), "member")
	}
	rows.Write(columns) // writing to a buffer never fails
	for _, r := range report.Data {
		row := []string{said(r.Day), said(r.Model), said(r.Key), number(r.CreditsCharged),
			number(r.CreditsRefunded), number(r.CreditsSpent), number(r.Images), number(r.Generations),
			number(r.Failed), number(r.Cancelled)}
		if byMember {
			row = append(row, r.Member)
		}
		rows.Write(row)
	}
	rows.Flush()
	x.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	x.Header().Set("Cache-Control", "no-store")
	return x.Send(http.StatusOK, out.Bytes())
}

// said is the text of an optional value; "" for nil.
func said[S ~string](s *S) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

func number[N ~int | ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }
