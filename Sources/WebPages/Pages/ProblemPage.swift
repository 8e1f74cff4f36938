import ControlAPI

extension Page {
  /// A problem as the interface has it, for people.
  static func problem(_ problem: Problem, isSignedIn: Bool) -> Page {
    Page(problem.title) {
      HTML.element("p", .other("role", "alert"), .style("problem")) { problem.detail }
      if let hint = problem.hint { HTML.element("p") { hint } }
      HTML.element("p", .style("note")) { "Status \(problem.status), \(problem.code)" }
      if isSignedIn {
        HTML.element("p") { HTML.element("a", .link(.overview)) { "Back to the overview" } }
      }
    }
  }

  /// After signing out.
  static var signedOut: Page {
    Page("Signed out") {
      HTML.element("p") {
        "This browser is signed out. "
        HTML.command("ladectl web")
        " prints a new link."
      }
    }
  }
}

extension Problem {
  private static let newLink = "Run 'ladectl web' on the daemon's machine and open the link that it prints."

  static let signedOut = Problem(
    status: 403, code: "signed_out", title: "Sign in", detail: "This browser isn't signed in, or no longer.",
    hint: newLink)

  static let wrongProxyHost = Problem(
    status: 403, code: "wrong_host", title: "Another host is expected",
    detail: "The pages can't be opened under this name.",
    hint: "The proxy has to pass the request's Host on, and web.url in the configuration has to have that name.")

  static let usedLink = Problem(
    status: 403, code: "no_such_link", title: "The link can't be used",
    detail: "A link works once, and for a short time. This one was used, is too old, or never was one.", hint: newLink)

  static let fromAnotherSite = Problem(
    status: 403, code: "cross_origin", title: "Not from another site",
    detail: "Another site asked for this, or shows it as a part of itself.",
    hint: "Open the pages by their own address, and go on from there.")

  static let foreignLink = Problem(
    status: 403, code: "cross_origin", title: "Not from another site",
    detail: "Another site led to this link, so it wasn't used.",
    hint: "Copy the link into the browser's address bar.")
}
