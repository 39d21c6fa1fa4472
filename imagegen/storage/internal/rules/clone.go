package rules

import (
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Clone returns a record that shares no memory with r.
func Clone(r imagegen.Record) imagegen.Record {
	r.Options = r.Options.Clone()
	r.References, r.Images = slices.Clone(r.References), slices.Clone(r.Images)
	r.Job, r.JobUpstreams = slices.Clone(r.Job), slices.Clone(r.JobUpstreams)
	r.Failure, r.Balance = clone(r.Failure), clone(r.Balance)
	if r.Balance != nil {
		r.Balance.NextExpiration = clone(r.Balance.NextExpiration)
	}
	return r
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}
