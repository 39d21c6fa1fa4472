package openai

import (
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// listed is a model, or an alias of one, in the list.
type listed struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"` // required by the shape, and not known here: 0
	OwnedBy string `json:"owned_by"`
	AliasOf string `json:"alias_of,omitempty"`
}

// list returns each model with its aliases behind it: clients that check a name against the list find
// both.
func list(infos []imagegen.ModelInfo) []listed {
	all := []listed{}
	for _, m := range infos {
		all = append(all, listed{ID: m.ID, Object: "model", OwnedBy: m.Provider})
		for _, a := range m.Aliases {
			all = append(all, listed{ID: a, Object: "model", OwnedBy: m.Provider, AliasOf: m.ID})
		}
	}
	return all
}

// names returns the names of models that a request can carry.
func names(infos []imagegen.ModelInfo) (all []string) {
	for _, m := range list(infos) {
		all = append(all, m.ID)
	}
	return all
}

func (a *api) models(x *exchange) error {
	infos, err := x.session.Offers(x.Ctx)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, struct {
		Object string   `json:"object"`
		Data   []listed `json:"data"`
	}{"list", list(infos)})
}

func (a *api) model(x *exchange) error {
	infos, err := x.session.Offers(x.Ctx)
	if err != nil {
		return err
	}
	all := list(infos)
	i := slices.IndexFunc(all, func(m listed) bool { return m.ID == x.id })
	if i < 0 {
		return imagegen.ErrNotFound
	}
	return x.JSON(http.StatusOK, all[i])
}
