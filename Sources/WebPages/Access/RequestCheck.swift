import ControlAPI
import ControlServer
import Hummingbird

/// Refuses requests that another site made a browser send.
///
/// 1. `Host` must be a loopback name or the configured one; through a proxy that names users, the configured one. Otherwise a
///    site whose name is suddenly this machine's address (DNS rebinding) could read the pages.
/// 2. A request that changes something must say that it comes from these pages: by `Sec-Fetch-Site`, which scripts
///    can't set, or from older browsers by `Origin`.
/// 3. Where a proxy names users there is no cookie that browsers would keep from other sites (`SameSite=Strict`), so what it would
///    do is done here: another site may lead to a page, and do nothing else with what can be read.
/// 4. In read-only mode every request for a change is refused.
struct RequestCheck: Sendable {
  let settings: WebSettings

  /// - Parameter isOfProxy: whether it comes through the proxy that names users.
  /// - Throws: `Problem`.
  func checkHost(_ request: Request, isOfProxy: Bool = false) throws {
    let host = request.head.authority.flatMap { HostName.of($0) }
    if isOfProxy {
      guard let host, host == settings.url?.host else { throw Problem.wrongProxyHost }
      return
    }
    guard let host, HostName.isLoopback(host) || host == settings.linkURL?.host else {
      throw Problem(
        status: 403, code: "wrong_host", title: "Another host is expected",
        detail: "The pages can't be opened under this name.",
        hint: "Use 127.0.0.1 or localhost, or give the name as web.url in the configuration.")
    }
  }

  /// - Throws: `Problem` where a request changes something that may not.
  func checkOrigin(_ request: Request) throws {
    guard request.method != .get, request.method != .head else { return }
    guard comesFromHere(request) else {
      throw Problem(
        status: 403, code: "cross_origin", title: "Not from these pages",
        detail: "The request that would change something comes from another site, or doesn't say where it comes from.",
        hint: "Open the page itself and try again there.")
    }
  }

  /// - Throws: `ControlError` in read-only mode.
  func checkMayChange() throws {
    guard settings.isReadOnly else { return }
    throw ControlError.forbidden(
      reason: "The pages are read-only.", hint: "Use ladectl, or take web.read_only out of the configuration.")
  }

  /// Whether a link was followed from another site, where the browser says so.
  static func isCrossSite(_ request: Request) -> Bool {
    guard let site = metadata("Site", of: request) else { return false }
    return site != "none" && site != "same-origin"
  }

  /// Refuses what another site may not have of a user whom a proxy names. Browsers that don't say where a request comes from can't
  /// be told apart, as those can't that don't know `SameSite`.
  /// - Parameter isLinked: whether it is a page, and looking at it does nothing.
  /// - Throws: `Problem`.
  static func checkSite(_ request: Request, isLinked: Bool) throws {
    guard isCrossSite(request) else { return }
    let isFollowed = metadata("Mode", of: request) == "navigate" && metadata("Dest", of: request) == "document"
    guard isLinked, isFollowed else { throw Problem.fromAnotherSite }
  }

  /// Whether the page's script makes a request, and not its reader, where the browser says so.
  static func isOfScript(_ request: Request) -> Bool { metadata("Dest", of: request) == "empty" }

  /// What a browser says of how a request was made (Fetch Metadata, W3C); nil where it says nothing.
  private static func metadata(_ what: String, of request: Request) -> String? {
    HTTPFields.Element.Name("Sec-Fetch-" + what).flatMap { request.headers[$0] }
  }

  private func comesFromHere(_ request: Request) -> Bool {
    if Self.metadata("Site", of: request) != nil { return !Self.isCrossSite(request) }
    guard let origin = request.headers[.origin]?.lowercased(), let host = request.head.authority?.lowercased() else {
      return false
    }
    // A proxy may have taken TLS off.
    return origin == "http://" + host || origin == "https://" + host
  }
}

/// The cookie by which a browser shows its session.
struct SessionCookie: Sendable {
  static let name = "lade-session"

  /// The secrets that a request brings. Another port of this machine can set a cookie of this name, too, so there may
  /// be several.
  static func secrets(of request: Request) -> [SessionSecret] {
    let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
    return pairs.prefix(64).compactMap { pair in
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0] == name else { return nil }
      return SessionSecret(parts[1])
    }
  }

  /// What sets it. It has no end of its own: the session has one.
  static func setting(_ secret: SessionSecret, isSecure: Bool) -> String {
    "\(name)=\(secret.text); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
  }

  /// What removes it.
  static let removing = "\(name)=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
}
