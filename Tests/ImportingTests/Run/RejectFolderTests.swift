import Testing

@testable import Importing

@Suite("Names of reject files in a feed's folder")
struct RejectFolderTests {
  private func name(_ source: String) -> String { RejectFolder.name(for: source, ReaderOptions()) }

  @Test("are those of the members, without folders and control characters")
  func plain() {
    #expect(name("feed/stops.txt.gz") == "stops.txt")
    #expect(name("../../etc/passwd.csv") == "passwd.csv")
    #expect(name("a\u{1}b.csv") == "a_b.csv")
    #expect(name("..") == "_..")
  }

  @Test("keep the ends of long ones, however they are long")
  func long() {
    let wide = name(String(repeating: "_", count: 400_000) + "stops.csv")
    #expect(wide.utf8.count == 200 && wide.hasSuffix("_stops.csv"))
    // One character to Swift.
    let tall = name("a" + String(repeating: "\u{301}", count: 1_000) + ".csv")
    #expect(tall.utf8.count <= 200 && tall.utf8.count > 190)
    #expect(tall.unicodeScalars.suffix(4).elementsEqual(".csv".unicodeScalars))
  }
}
