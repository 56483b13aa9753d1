package admin

import (
	"net/http"
	"runtime/debug"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// Handler answers all paths of the server, without a listener.
func (s *Server) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(s.recoverPanics, secureHeaders, middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, problem{Status: http.StatusNotFound, Detail: "there is nothing at this path"})
	})
	r.MethodNotAllowed(methodNotAllowed(r))

	r.Get("/healthz", s.health)
	r.Get("/readyz", s.readiness)
	if s.opts.Metrics != nil {
		r.Method(http.MethodGet, "/metrics", s.opts.Metrics)
	}
	return r
}

// methodNotAllowed answers 405 with the methods that the path has: RFC 9110,
// 15.5.6 requires them, and chi leaves them out once a handler is set.
func methodNotAllowed(routes chi.Routes) http.HandlerFunc {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	return func(w http.ResponseWriter, r *http.Request) {
		for _, method := range methods {
			if !routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				continue
			}
			w.Header().Add("Allow", method)
			if method == http.MethodGet {
				w.Header().Add("Allow", http.MethodHead) // by middleware.GetHead
			}
		}
		writeProblem(w, problem{
			Status: http.StatusMethodNotAllowed,
			Detail: "this path has no such method; the Allow header names those it has",
		})
	}
}

// recoverPanics ends the request of a handler that panics, and nothing else.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler: // how a handler says that it gives up on the connection
				panic(cause)
			default:
				s.logger.Error("admin request panicked",
					"method", r.Method, "path", r.URL.Path, "panic", cause, "stack", string(debug.Stack()))
				writeProblem(w, problem{Status: http.StatusInternalServerError, Detail: "the gateway's log says more"})
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// secureHeaders keeps browsers from guessing types and caches from showing an
// old state.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
