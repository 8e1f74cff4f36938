import Testing

@testable import Importing

@Suite("The formats that are offered")
struct StandardFormatsTests {
  @Test("are those that can be read")
  func names() { #expect(StandardFormats.names == FileFormats.standard.names.sorted()) }
}
