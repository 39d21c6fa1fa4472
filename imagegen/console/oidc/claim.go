package oidc

import "strings"

// find returns the claim of a name; a name with points leads through objects, unless a claim is named so.
func find(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	outer, inner, ok := strings.Cut(name, ".")
	if within, isObject := claims[outer].(map[string]any); ok && isObject {
		return find(within, inner)
	}
	return nil
}

// texts are those that a claim is or holds.
func texts(claim any) (all []string) {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		for _, element := range v {
			if s, ok := element.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}
