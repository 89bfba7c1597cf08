import { marks, words } from "./phrases.ts";

/** To set aside what one was told, or to have no limits, in languages of Latin letters. */
export const IN_LATIN_LETTERS: RegExp = words(
  "(ignorier(e|en|t)?|vergiss|vergesst|missachte) … (anweisungen|regeln|vorgaben)",
  "(ignora|ignorar|olvida|descarta) … (instrucciones|reglas)",
  "(ignore|ignorar|desconsidere|esque[cç]a) … (instru[cç][oõ]es|regras)",
  "(ignore[zr]|oublie[zr]?) … (instructions|consignes|r[eè]gles)",
  "(ignora|dimentica) … (istruzioni|regole)",
  "ohne (jegliche |alle )?(einschr[aä]nkungen|zensur)",
  "sin (ning[uú]n[ao]? )?(restricciones|censura)",
  "sem (nenhuma )?(restri[cç][oõ]es|censura)",
  "sans (aucune? )?(restrictions?|censure)",
  "senza (alcuna )?(restrizioni|censura)",
);

/** The same in Russian, Chinese, Japanese and Korean, which the edge of a word means nothing to. */
export const IN_OTHER_SCRIPTS: RegExp = marks(
  "(игнорируй|забудь)[^.\\n]{0,40}(инструкци|указани|правил)",
  "свободн[^.\\n]{0,20}ограничени",
  "(忽略|无视|忘记|忽視|無視)[^。\\n]{0,20}(指令|指示|规则|規則|提示|限制)",
  "(没有|沒有|无|無)(任何|一切)?(限制|约束|約束|道德|过滤)",
  "(不受|不遵守)[^。\\n]{0,8}(限制|约束|規則|规则)",
  "(指示|命令|制限|フィルター|ルール)[^。\\n]{0,16}(無視|忘れ|従わない)",
  "(制限|規制|フィルター)の?(ない|なし)",
  "(지시|명령|규칙)[^.\\n]{0,16}(무시|잊)",
  "제한 ?(이 )?없는",
);
