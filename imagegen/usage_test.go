package imagegen_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestUsageDays(t *testing.T) {
	now := time.Date(2026, 3, 31, 23, 59, 0, 0, time.FixedZone("", -3600)) // 1 April in UTC
	day := func(s string) time.Time {
		at, err := time.Parse(time.DateOnly, s)
		is.New(t).NoErr(err)
		return at
	}
	for _, c := range []struct {
		from, to, wantFrom, wantTo time.Time
	}{
		{time.Time{}, time.Time{}, day("2026-03-03"), day("2026-04-01")},
		{day("2026-01-02"), time.Time{}, day("2026-01-02"), day("2026-04-01")},
		{time.Time{}, day("2026-01-30"), day("2026-01-01"), day("2026-01-30")},
		{day("2026-01-02").Add(23 * time.Hour), day("2026-01-02").Add(time.Hour), day("2026-01-02"), day("2026-01-02")},
		{day("2025-04-01"), now, day("2025-04-01"), day("2026-04-01")},
	} {
		is := is.New(t)
		q, err := imagegen.UsageQuery{From: c.from, To: c.to}.WithDefaults(now)
		is.NoErr(err)
		is.Equal(cmp.Diff(imagegen.UsageQuery{From: c.wantFrom, To: c.wantTo}, q), "")
	}
	for _, q := range []imagegen.UsageQuery{
		{From: day("2026-01-02"), To: day("2026-01-01")},
		{From: day("2026-04-02")},
		{From: day("2025-03-31"), To: day("2026-04-01")},
		{By: []imagegen.UsageGroup{"hour"}},
		{By: []imagegen.UsageGroup{imagegen.UsageByDay, ""}},
	} {
		_, err := q.WithDefaults(now)
		is.New(t).True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
	is.New(t).Equal(imagegen.UsageDay(time.Time{}), time.Unix(0, 0).UTC()) // none before 1970
}

// An answer has a bound, and what is grouped into fewer rows has not.
func TestUsageRowsAreBounded(t *testing.T) {
	is := is.New(t)
	rows := func(n int) func(func(imagegen.Usage) bool) {
		return func(yield func(imagegen.Usage) bool) {
			for i := range n {
				if !yield(imagegen.Usage{Model: "m", Key: imagegen.KeyID(fmt.Sprint(i)),
					UsageSums: imagegen.UsageSums{Charged: 2}}) {
					return
				}
			}
		}
	}
	byKey := imagegen.UsageQuery{By: []imagegen.UsageGroup{imagegen.UsageByKey}}
	all, err := byKey.Sum(rows(imagegen.MaxUsageRows))
	is.NoErr(err)
	is.Equal(len(all), imagegen.MaxUsageRows)
	_, err = byKey.Sum(rows(imagegen.MaxUsageRows + 1))
	is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	all, err = imagegen.UsageQuery{}.Sum(rows(imagegen.MaxUsageRows + 1))
	is.NoErr(err)
	is.Equal(cmp.Diff([]imagegen.Usage{{UsageSums: imagegen.UsageSums{Charged: 2 * (imagegen.MaxUsageRows + 1)}}}, all),
		"")
}
