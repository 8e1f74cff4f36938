public import Foundation

/// Index paths of two numbers, as lists with sections use them. Source: the additions that UIKit and AppKit make to
/// `IndexPath`, which Foundation on Linux hasn't got.
extension IndexPath {
  /// The path to an item of a section, both counted from 0.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The path to a row of a section, both counted from 0.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// The section's number. The path has two numbers.
  public var section: Int { self[0] }
  /// The item's number in its section. The path has two numbers.
  public var item: Int { self[1] }
  /// The item's number in its section, as table views call it.
  public var row: Int { self[1] }
}
