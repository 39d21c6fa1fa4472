package router

import (
	"errors"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Check refuses what no single member can do, by its capabilities or by its own Check if it is a Checker. The message
// has those of all members that could do it by their capabilities.
func (p *Provider) Check(r imagegen.ProviderRequest) error {
	if err := p.capabilities.Check(r); err != nil {
		return err
	}
	var messages []string
	for _, m := range p.members {
		err := imagegen.CheckRequest(m.provider, r)
		if err == nil {
			return nil
		}
		e, ok := errors.AsType[*imagegen.ProviderError](err)
		if ok && m.can.Check(r) == nil && !slices.Contains(messages, e.Message) {
			messages = append(messages, e.Message)
		}
	}
	return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: strings.Join(messages, "; or ")}
}
