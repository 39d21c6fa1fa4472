package oidc

import "strings"

// find returns the claim with a name; nil if there is none. A name with points, such as realm_access.roles, leads
// through objects. A claim whose name itself has points, as of a URL, comes first.
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

// texts returns the strings in a claim, which is a string or a list. Everything else is left out: providers differ in
// how they write a single role.
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
