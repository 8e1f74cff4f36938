import ControlAPI
import Testing

@testable import ladectl

@Suite("The text in which rejects are edited")
struct RejectTextTests {
  private func reject(_ number: Int64, _ record: String, isReadable: Bool = true) -> Reject {
    Reject(
      number: number, line: number + 10, column: "age", code: "not_an_integer", message: "“x” isn't a whole number",
      record: record, recordBytes: record.utf8.count, isReadable: isReadable)
  }

  @Test("has each record after its number and reason, and names the columns")
  func text() {
    let text = RejectText([reject(3, "1,x"), reject(5, "2,\"a\nb\",y")], columns: ["id", "age"], of: 7).text()
    #expect(
      text.hasSuffix(
        """
        #lade Columns: id, age

        #lade 3 line 13, age: “x” isn't a whole number
        1,x

        #lade 5 line 15, age: “x” isn't a whole number
        2,"a
        b",y

        """))
  }

  @Test("is read back: what is unchanged has no text, what is changed keeps its number, what is removed is left out")
  func corrections() throws {
    let rejects = RejectText([reject(3, "1,x"), reject(5, "2,\"a\nb\",y"), reject(6, "3,z")], columns: [], of: 7)
    let text = rejects.text()
    #expect(try rejects.corrections(in: text) == [.init(number: 3), .init(number: 5), .init(number: 6)])
    let edited = text.replacing("b\",y", with: "b\",4").replacing("3,z\n", with: "")
    #expect(try rejects.corrections(in: edited) == [.init(number: 3), .init(number: 5, record: "2,\"a\nb\",4")])
    #expect(try rejects.corrections(in: "").isEmpty)
    #expect(try rejects.corrections(in: "#lade 99 line 1\nsomething\n").isEmpty)
    // Swift's strings would be equal.
    let composed = RejectText([reject(3, "1,\u{E9}")], columns: [], of: 7)
    let changed = try composed.corrections(in: composed.text().replacing("\u{E9}", with: "e\u{301}"))
    #expect(changed.first?.record.map { Array($0.utf8) } == Array("1,e\u{301}".utf8))
  }

  @Test("is marked by what no record begins with")
  func mark() throws {
    let rejects = RejectText([reject(1, "a\n#lade 2 line 1\nb"), reject(2, "#lade- x")], columns: [], of: 7)
    #expect(rejects.mark == "#lade--")
    #expect(try rejects.corrections(in: rejects.text()) == [.init(number: 1), .init(number: 2)])
  }

  @Test("has the text of a record that can't be read as it is, also where it wasn't changed")
  func unreadable() throws {
    let rejects = RejectText([reject(1, "a,\"b", isReadable: false)], columns: [], of: 7)
    #expect(try rejects.corrections(in: rejects.text()) == [.init(number: 1, record: "a,\"b")])
  }

  @Test("is refused if a record stands there twice, and removed blocks don't count as that")
  func repeated() throws {
    let rejects = RejectText([reject(3, "1,x"), reject(5, "2,y")], columns: [], of: 7)
    #expect(throws: RejectText.Repeated.self) { try rejects.corrections(in: "#lade 3 x\n1,2\n#lade 3 x\n1,3\n") }
    #expect(try rejects.corrections(in: "#lade 3 x\n1,2\n#lade 5 x\n") == [.init(number: 3, record: "1,2")])
  }
}
