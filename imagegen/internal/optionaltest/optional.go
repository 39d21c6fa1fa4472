// Package optionaltest knows the optional interfaces of each part of an engine. It finds those that a wrapper loses,
// and methods that have the name of an optional one but not its signature, which nobody calls.
package optionaltest

import (
	"fmt"
	"reflect"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// optional lists, for each part, the interfaces that an implementation need not have.
var optional = map[reflect.Type][]reflect.Type{
	of[imagegen.Provider](): {of[imagegen.Checker](), of[imagegen.ConcurrencyLimiter](), of[imagegen.HealthReporter](),
		of[provider.Prober]()},
	of[imagegen.Ledger](): {of[imagegen.ChargeLister](), of[imagegen.CreditAdmin](), of[imagegen.UsageWalker]()},
	of[imagegen.Store](): {of[imagegen.TxStore](), of[imagegen.HostTxStore](), of[imagegen.Inspector](),
		of[imagegen.TotalsKeeper](), of[imagegen.FeedKeeper](), of[imagegen.Timekeeper](),
		of[imagegen.ReadinessChecker](), of[imagegen.Warner](), of[imagegen.TurnTaker](), of[account.TrailStore]()},
	of[imagegen.ImageStore](): {of[imagegen.ImageLinker]()},
	of[imagegen.Spool]():      {of[imagegen.SpaceTaker]()},
	of[imagegen.Reference]():  {of[imagegen.Discarder](), of[imagegen.Namer]()},
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Lost returns a sentence for each optional interface that wrapped has and wrapper does not. It looks only at parts
// that both are, and only at types: zero values will do.
func Lost(wrapper, wrapped any) (lost []string) {
	outer, inner := reflect.TypeOf(wrapper), reflect.TypeOf(wrapped)
	for part, interfaces := range optional {
		if !outer.Implements(part) || !inner.Implements(part) {
			continue
		}
		for _, i := range interfaces {
			if inner.Implements(i) && !outer.Implements(i) {
				lost = append(lost, fmt.Sprintf("%v loses %v, which %v has: it must forward %v", outer, i, inner,
					methods(i)))
			}
		}
	}
	return lost
}

// Misdeclared returns a sentence for each method of x that has the name of an optional one and another signature.
func Misdeclared(x any) (wrong []string) {
	t := reflect.TypeOf(x)
	for part, interfaces := range optional {
		for _, i := range interfaces {
			if i.NumMethod() != 1 || !t.Implements(part) || t.Implements(i) {
				continue
			}
			if m, ok := t.MethodByName(i.Method(0).Name); ok {
				wrong = append(wrong,
					fmt.Sprintf("the method %s of %v is not that of %v, so nobody calls it: it is %v and must be %v",
						m.Name, t, i, m.Type, i.Method(0).Type))
			}
		}
	}
	return wrong
}

// methods are the names of the methods of an interface.
func methods(i reflect.Type) (names []string) {
	for m := range i.Methods() {
		names = append(names, m.Name)
	}
	return names
}
