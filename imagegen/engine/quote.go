package engine

import "github.com/imagegend/imagegend/imagegen"

// Quote checks and prices a request as Generate does, without charging anybody. References are
// counted; they are neither opened nor taken over, and can be nil. ErrInvalidRequest. Whether the
// user has so many credits, and whether Config.Admit would agree, is not asked.
func (s *Session) Quote(q imagegen.GenerateRequest) (imagegen.Quote, error) {
	r, _, err := s.engine.plan(s.user, q)
	if err != nil {
		return imagegen.Quote{}, err
	}
	return imagegen.Quote{Ratio: r.Ratio, Tier: r.Tier, Price: r.Price, Credits: r.Charge().Credits}, nil
}
