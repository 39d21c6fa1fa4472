package catalog

import (
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
)

// accountKeys are the keys that tell accounts at one upstream apart. A secret counts by where it is, not by what it
// is: it can be renewed in its place, and nothing derived from it is stored. The order is that of the text that
// upstream returns, which is compared as a whole.
var accountKeys = []string{"organization", "project", "location", "user", "key_env", "key_file", "service_account_env",
	"service_account_file"}

// upstream returns what tells the upstream of a provider's block from others: type, address and account, such as "bfl
// base_url=https://api.eu.bfl.ai/v1 key_env=BFL_API_KEY". It is stored with each job at the upstream, so that only
// the same account resumes the job; a reload compares it too. Another form of this text would make all accepted work
// foreign.
func upstream(n *yaml.Node) string {
	parts := []string{scalar(n, "type")}
	if address := scalar(n, "base_url"); address != "" {
		parts = append(parts, "base_url="+bare(address))
	}
	for _, key := range accountKeys {
		if v := scalar(n, key); v != "" {
			parts = append(parts, key+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

// bare returns an address without what may be secret in it, and in one spelling: the same upstream must not look like
// another.
func bare(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	return strings.TrimRight(u.String(), "/")
}

// scalar returns the plain value of a key; "" if there is none.
func scalar(n *yaml.Node, key string) string {
	if value := yamlfile.Lookup(n, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}
