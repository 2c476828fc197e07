// Reads inputs with ANTLR's own interpreters, without generated code.
//
// In, on standard input, one line per request, fields parted by tabs:
//     unit  START  PARSER.g4  LEXER.g4   (one grammar file if combined)
//     file  PATH
// Out, one line per request:
//     ok | bad WHY            for a unit
//     ok | bad WHY            for a file; `WHY` is the first error
//
// Predicates count as true and actions do nothing, as ANTLR's interpreters
// have it.

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.antlr.v4.Tool;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.LexerInterpreter;
import org.antlr.v4.runtime.ParserInterpreter;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.tool.ANTLRMessage;
import org.antlr.v4.tool.ANTLRToolListener;
import org.antlr.v4.tool.Grammar;
import org.antlr.v4.tool.LexerGrammar;
import org.antlr.v4.tool.ast.GrammarRootAST;

public final class Judge {
    private Grammar parser;
    private LexerGrammar lexer;
    private String start;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setErr(new PrintStream(new ByteArrayOutputStream()));
        Judge judge = new Judge();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] fields = line.split("\t");
            String why;
            try {
                why = fields[0].equals("unit") ? judge.load(fields) : judge.read(fields[1]);
            } catch (StackOverflowError error) {
                why = "stack overflow in ANTLR";
            } catch (Throwable error) {
                why = error.toString();
            }
            out.println(why == null ? "ok" : "bad " + why.replaceAll("\\s+", " "));
        }
    }

    private static final class Errors implements ANTLRToolListener {
        String first;

        public void info(String message) {}

        public void error(ANTLRMessage message) {
            if (first == null) {
                first = message.fileName + ":" + message.line + " " + message.getErrorType() + " "
                    + message.getMessageTemplate(false).render();
            }
        }

        public void warning(ANTLRMessage message) {}
    }

    private Grammar one(Tool tool, String path) {
        GrammarRootAST ast = tool.parseGrammar(path);
        if (ast == null) {
            return null;
        }
        Grammar grammar = tool.createGrammar(ast);
        grammar.fileName = path;
        return grammar;
    }

    private String load(String[] fields) {
        parser = null;
        lexer = null;
        start = fields[1];
        Tool tool = new Tool();
        Errors errors = new Errors();
        tool.removeListeners();
        tool.addListener(errors);
        tool.libDirectory = new File(fields[2]).getParent();
        tool.outputDirectory = tool.libDirectory;
        tool.gen_dependencies = false;
        if (fields.length > 3) {
            Grammar grammar = one(tool, fields[3]);
            if (grammar == null || errors.first != null) {
                return "lexer: " + errors.first;
            }
            tool.process(grammar, false);
            if (errors.first != null || !(grammar instanceof LexerGrammar)) {
                return "lexer: " + errors.first;
            }
            lexer = (LexerGrammar) grammar;
        }
        Grammar grammar = one(tool, fields[2]);
        if (grammar == null || errors.first != null) {
            return "parser: " + errors.first;
        }
        if (lexer != null) {
            // In place of the file of tokens that `tokenVocab` names.
            grammar.importVocab(lexer);
            grammar.ast.setOption("tokenVocab", null);
        }
        tool.process(grammar, false);
        if (errors.first != null) {
            return "parser: " + errors.first;
        }
        parser = grammar;
        if (lexer == null) {
            lexer = grammar.getImplicitLexer();
        }
        if (grammar.getRule(start) == null) {
            return "no rule " + start;
        }
        return lexer == null ? "no lexer" : null;
    }

    private static final class First extends BaseErrorListener {
        String message;

        @Override
        public void syntaxError(Recognizer<?, ?> recognizer, Object symbol, int line, int column,
                String message, RecognitionException error) {
            if (this.message == null) {
                this.message = line + ":" + column + " " + message;
            }
        }
    }

    private String read(String path) throws Exception {
        First errors = new First();
        String text = Files.readString(Path.of(path), StandardCharsets.UTF_8);
        LexerInterpreter lexing = lexer.createLexerInterpreter(CharStreams.fromString(text));
        lexing.removeErrorListeners();
        lexing.addErrorListener(errors);
        CommonTokenStream tokens = new CommonTokenStream(lexing);
        tokens.fill();
        if (errors.message != null) {
            return "lexer " + errors.message;
        }
        ParserInterpreter parsing = parser.createParserInterpreter(tokens);
        parsing.removeErrorListeners();
        parsing.addErrorListener(errors);
        parsing.parse(parser.getRule(start).index);
        if (errors.message != null) {
            return "parser " + errors.message;
        }
        if (tokens.LA(1) != Token.EOF && parsing.getCurrentToken().getType() != Token.EOF) {
            Token token = parsing.getCurrentToken();
            return "parser stops at " + token.getLine() + ":" + token.getCharPositionInLine();
        }
        return null;
    }
}
