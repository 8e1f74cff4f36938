import ControlAPI
import ControlServer
import Hummingbird

/// Whose requests come through a proxy that names users.
///
/// 1. A request is the proxy's if the kernel says that a process of its user is at the other end of a Unix socket
///    (`SO_PEERCRED`, unix(7)). Over TCP nobody has a user.
/// 2. Each request of the proxy names one user, who then may do what that user may do over the control socket. No cookie counts.
/// 3. No other request may have the field: it comes from who shouldn't know of it, or past the proxy.
struct ProxyUsers: Sendable {
  private static let longestName = 256

  private let proxy: WebProxy
  private let directory: UserDirectory

  init(_ proxy: WebProxy, _ directory: UserDirectory) {
    self.proxy = proxy
    self.directory = directory
  }

  /// Whether the proxy is at the other end.
  func isProxy(_ peer: Peer) -> Bool { peer.uid == proxy.user && peer.uid != .max }

  /// Whom the proxy names; nil for a request that isn't the proxy's.
  /// - Throws: `Problem`, ``ControlError/unavailable(reason:hint:)``.
  func session(of request: Request, from peer: Peer) async throws -> WebSession? {
    let names = HTTPFields.Element.Name(proxy.header).map { request.headers[values: $0] } ?? []
    guard isProxy(peer) else {
      guard names.isEmpty else { throw Problem.namedElsewhere(proxy.header) }
      return nil
    }
    guard names.count == 1, let name = names.first, Self.isName(name) else {
      throw Problem.namesNobody(proxy.header, names.count)
    }
    switch try await directory.user(named: name) {
    case .user(let number, let group):
      return WebSession(peer: Peer(pid: peer.pid, uid: number, gid: group), user: name, isNamedByProxy: true)
    case .unknown: throw Problem.unknownUser(name)
    case .privileged: throw Problem.privilegedUser(name)
    case .outsider: throw Problem.outsider(name)
    }
  }

  /// Whether a text may be one login name. Two fields of a request can also be one with a comma (RFC 9110, 5.3).
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestName
      && !text.unicodeScalars.contains { scalar in
        scalar.value <= 0x20 || scalar.value == 0x7f || [",", ":", "/"].contains(scalar)
          || scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
      }
  }
}

extension Problem {
  fileprivate static func namedElsewhere(_ header: String) -> Problem {
    Problem(
      status: 403, code: "not_the_proxy", title: "Only the proxy names users",
      detail: "The request has the field \(header), and doesn't come from the proxy.",
      hint: "Leave it out. A proxy has to run as the user of web.proxy.user and connect to the pages' Unix socket.")
  }

  fileprivate static func namesNobody(_ header: String, _ count: Int) -> Problem {
    let detail =
      switch count {
      case 0: "The request comes from the proxy, and has no field \(header)."
      case 1: "The request comes from the proxy, and what it has in \(header) isn't the name of one user."
      default: "The request comes from the proxy, and has the field \(header) \(count) times."
      }
    return Problem(
      status: 403, code: "no_user_named", title: "The proxy names nobody", detail: detail,
      hint:
        "The proxy has to sign browsers in, and to set \(header) to the login name, in place of what a browser has sent."
    )
  }

  fileprivate static func unknownUser(_ name: String) -> Problem {
    Problem(
      status: 403, code: "unknown_user", title: "Unknown user",
      detail: "The proxy names “\(name)”, and this machine has no user of that name.",
      hint:
        "'getent passwd NAME' shows whom it knows. The service has no network: sssd or nss-systemd answer it, nss_ldap can't."
    )
  }

  fileprivate static func privilegedUser(_ name: String) -> Problem {
    Problem(
      status: 403, code: "privileged_user", title: "Not by a proxy",
      detail: "The proxy names “\(name)”. Root and the daemon's own user can't be named by a proxy.",
      hint: "Sign in as another user, and name that one under operators in the configuration.")
  }

  fileprivate static func outsider(_ name: String) -> Problem {
    Problem(
      status: 403, code: "not_in_group", title: "Not a member",
      detail: "The proxy names “\(name)”, who may not use the control socket.",
      hint: "Put the user into the socket's group: 'usermod -aG lade NAME' with the installed service.")
  }
}
