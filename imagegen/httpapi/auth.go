package httpapi

import (
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// withKey lets a handler answer for the user whose key came with the request.
func (a *api) withKey(h handle) handle {
	return func(x *exchange) error {
		key, err := serving.Bearer(x.Request.Header)
		if err != nil {
			return err
		}
		if x.session, err = a.engine.Authenticate(x.Ctx, key); err != nil {
			return err
		}
		x.Key, x.User = x.session.KeyID(), x.session.User()
		leave, err := a.site.Limits.Admit(x.session.KeyID())
		if err != nil {
			return err
		}
		defer leave()
		return h(x)
	}
}
