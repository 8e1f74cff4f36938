/// A secret that whoever asks has to know. It isn't shown by any way of describing values.
package struct AccessToken: Sendable, Equatable {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether that is the secret; how long it takes to say tells nothing of it but its length.
  package func matches(_ text: some StringProtocol) -> Bool {
    let given = Array(text.utf8)
    var difference: UInt8 = given.count == bytes.count ? 0 : 1
    for (place, byte) in bytes.enumerated() { difference |= byte ^ (place < given.count ? given[place] : 0) }
    return difference == 0
  }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
