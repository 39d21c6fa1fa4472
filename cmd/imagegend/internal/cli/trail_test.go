package cli

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// pages is a trail of which each page has these rows.
type pages struct {
	of    [][]uint64
	asked int
}

func (p *pages) Call(_ context.Context, _, _ string, in, out any) error {
	q, page := in.(*admin.TrailQuery), out.(*admin.TrailPage)
	for _, seq := range p.of[p.asked][:min(q.Limit, len(p.of[p.asked]))] {
		page.Rows = append(page.Rows, admin.TrailRow{Seq: seq})
	}
	if p.asked++; p.asked < len(p.of) {
		page.Next = uint64(100 - p.asked)
	}
	return nil
}

// A page without rows is not the last one: the store looks at a bounded number of rows for each page.
func TestTrailGoesOnAfterAnEmptyPage(t *testing.T) {
	for name, test := range map[string]struct {
		limit int
		want  []uint64
		asked int
	}{
		"all":       {0, []uint64{5, 4, 1}, 4},
		"some":      {2, []uint64{5, 4}, 2},
		"no others": {9, []uint64{5, 4, 1}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := &pages{of: [][]uint64{{}, {5, 4}, {}, {1}}}
			var shown []uint64
			is.NoErr(eachTrailRow(t.Context(), s, admin.TrailQuery{}, test.limit, func(r admin.TrailRow) error {
				shown = append(shown, r.Seq)
				return nil
			}))
			is.Equal(cmp.Diff(shown, test.want), "")
			is.Equal(s.asked, test.asked)
		})
	}
}
