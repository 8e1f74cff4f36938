/// A link that signs a browser in as the user who asked for it: what `POST /v1/web/session` answers.
package struct WebLink: Codable, Sendable, Hashable {
  /// It works once.
  package var url: String
  /// How long it works.
  package var seconds: Double

  package init(url: String, seconds: Double) {
    self.url = url
    self.seconds = seconds
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case url, seconds }
}
