package config

import (
	"reflect"
	"strings"
)

func checkUser(user string) string {
	if strings.Contains(user, ":") {
		return "holds a colon, which ends a user; remove it"
	}
	return ""
}

// checkAuthHeaderName is for the one header that may be authorization.
func checkAuthHeaderName(name string) string {
	if name == "" || strings.EqualFold(name, "authorization") {
		return ""
	}
	return checkHeaderName(name)
}

func checkTokenURL(raw string) string {
	if raw == "" {
		return ""
	}
	return checkURL(raw)
}

// checkScope keeps to RFC 6749, 3.3.
func checkScope(scope string) string {
	if scope == "" || !isVisible(scope) || strings.ContainsAny(scope, "\"\\") {
		return "is no scope; write each as an entry of its own, without blanks"
	}
	return ""
}

// checkAWSName checks a region or a service.
func checkAWSName(name string) string {
	if name != "" && !nameForm.MatchString(name) {
		return "is no name of AWS; write one such as eu-west-1 or execute-api"
	}
	return ""
}

func checkAudience(audience string) string {
	if !isVisible(audience) {
		return "holds blanks or other characters than visible ASCII; write it as https://hooks.example"
	}
	return ""
}

// auth demands one way to authenticate, and the whole of it.
func (c endpointCheck) auth() {
	var chosen []string
	for path, way := range c.Auth.ways {
		if !way.IsNil() {
			chosen = append(chosen, path)
		}
	}
	for _, path := range chosen[min(1, len(chosen)):] {
		c.fault("stands beside "+chosen[0]+"; keep one way to authenticate", path)
	}
	if len(chosen) != 1 {
		return
	}
	switch a := c.Auth; {
	case a.Basic != nil:
		if a.Basic.Username == "" && a.Basic.Password == "" {
			c.need("auth.basic.username", "")
		}
	case a.Bearer != nil:
		c.need("auth.bearer.token", a.Bearer.Token.Reveal())
	case a.Header != nil:
		c.need("auth.header.name", a.Header.Name)
		c.need("auth.header.value", a.Header.Value.Reveal())
		c.headerTwice(a.Header.Name)
	case a.OAuth2 != nil:
		c.need("auth.oauth2.token_url", a.OAuth2.TokenURL)
		c.need("auth.oauth2.client_id", a.OAuth2.ClientID)
		c.need("auth.oauth2.client_secret", a.OAuth2.ClientSecret.Reveal())
	case a.AWSSigV4 != nil:
		c.need("auth.aws_sigv4.region", a.AWSSigV4.Region)
		c.need("auth.aws_sigv4.service", a.AWSSigV4.Service)
	case a.GCPIDToken != nil:
		c.need("auth.gcp_id_token.audience", a.GCPIDToken.Audience)
	}
}

// need demands a value of a way to authenticate, where that way is written.
func (c endpointCheck) need(path, value string) {
	if value != "" || !c.sound(path) {
		return
	}
	s := c.own
	if _, own := s.places[path[:strings.LastIndexByte(path, '.')]]; !own && c.defaults != nil {
		s = c.defaults
	}
	at, path := s.nearest(path)
	s.faultAt(at, path, "is missing; write it")
}

// headerTwice refuses a header of auth that stands in headers as well.
func (c endpointCheck) headerTwice(name string) {
	for other := range c.Headers {
		if strings.EqualFold(other, name) {
			c.fault("stands in headers too; remove it there", "auth.header.name")
		}
	}
}

// ways yields the ways to authenticate by their paths, in the order of the table.
func (a *Auth) ways(yield func(path string, way reflect.Value) bool) {
	all := reflect.ValueOf(a).Elem()
	for _, k := range authKeys {
		if !k.notYet && !yield(join("auth", k.name), field(all, k.name)) {
			return
		}
	}
}

// dropAuth forgets ways to authenticate that come from defaults, if the endpoint
// has one of its own: two cannot be merged.
func (e *Endpoint) dropAuth(s *section) {
	own := false
	for path := range e.Auth.ways {
		_, written := s.places[path]
		own = own || written
	}
	if !own {
		return
	}
	for path, way := range e.Auth.ways {
		if _, written := s.places[path]; written || way.IsNil() {
			continue
		}
		way.SetZero()
		for hidden := range s.hidden {
			if strings.HasPrefix(hidden, path+".") {
				delete(s.hidden, hidden)
			}
		}
	}
}

// clone copies the ways to authenticate.
func (a Auth) clone() Auth {
	for _, way := range a.ways {
		if !way.IsNil() {
			own := reflect.New(way.Type().Elem())
			own.Elem().Set(way.Elem())
			way.Set(own)
		}
	}
	if a.OAuth2 != nil {
		a.OAuth2.Scopes = append([]string(nil), a.OAuth2.Scopes...)
	}
	return a
}
