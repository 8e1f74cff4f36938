import ManagedObjects
import Testing

@Suite("A value")
struct ValueSizeTests {
  @Test("takes 16 bytes and a tag: rows are arrays of them")
  func size() { #expect(MemoryLayout<Value>.size == 17) }
}
