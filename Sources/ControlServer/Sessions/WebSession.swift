/// A browser that has signed in: whom it acts for.
package struct WebSession: Sendable, Hashable {
  /// The process that asked for the link over the control socket. Everything that the browser does is done as that
  /// peer, so it may do what its user may do there.
  package let peer: Peer
  /// The user's login name, or `user 1000` where there is none.
  package let user: String
  /// Whether a proxy has signed the browser in, and not a link: then there is nothing to sign out of here.
  package let isNamedByProxy: Bool

  package init(peer: Peer, user: String, isNamedByProxy: Bool = false) {
    self.peer = peer
    self.user = user
    self.isNamedByProxy = isNamedByProxy
  }
}

/// How long links and sessions last, and how many there are.
package struct WebSessionLimits: Sendable, Hashable {
  /// How long a link can be used.
  package var link = Duration.seconds(60)
  /// How long a session lasts without requests.
  package var idle = Duration.seconds(8 * 3600)
  /// How long a session lasts at most.
  package var absolute = Duration.seconds(7 * 24 * 3600)
  /// Sessions of one user, and also links. The oldest ends when there would be one more.
  package var ofOne = 16
  /// Sessions of all users, and also links. There is no other then.
  package var ofAll = 256

  package init() {}
}
