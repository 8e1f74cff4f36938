package import ControlServer
package import WebPages

/// Pages for browsers: the section `web` of a configuration.
package struct WebConfiguration: Sendable, Equatable {
  /// Where the daemon listens; nil for nowhere, unless the service manager does.
  package var address: LoopbackAddress?
  /// How they are reached, and whether they change anything.
  package var settings = WebSettings()

  package init() {}
}

extension WebConfiguration {
  enum Key: String, CaseIterable {
    case address, url
    case isReadOnly = "read_only"
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    address = section[.address]?.loopbackAddress(example: 9465)
    settings.url = section[.url]?.webURL()
    settings.isReadOnly = section[.isReadOnly]?.flag() ?? settings.isReadOnly
  }
}

extension YAMLValue {
  fileprivate func webURL() -> WebURL? {
    guard let text = text() else { return nil }
    guard let url = WebURL(text) else {
      wrong("write it as scheme and host, without a path, such as https://lade.example.org")
      return nil
    }
    return url
  }
}
