// What the product's own words for states are called here, and how they look.
import { Tag, html } from "../shared/ui.js";
import { number, words } from "../shared/i18n.js";

const NAMES = {
  outcome: {
    answered: ["good", "已回答", "Answered"], partially_answered: ["good", "部分回答", "Partly answered"], low_confidence: ["warn", "不太确定", "Unsure"],
    clarify: ["warn", "反问", "Asked back"], no_evidence: ["bad", "没有依据", "No evidence"], cannot_answer: ["bad", "不能可靠回答", "Cannot answer"],
    high_stakes: ["bad", "高风险", "High stakes"], out_of_scope: ["", "不谈的话题", "Out of scope"], irrelevant: ["", "与业务无关", "Irrelevant"],
    nonsense: ["", "看不出问题", "Nonsense"], handoff: ["accent", "转人工", "Handed off"], rejected: ["", "未处理", "Rejected"],
  },
  verdict: { pass: ["good", "过线", "Passes"], clarify: ["warn", "接近", "Close"], refuse: ["", "不采用", "Not used"] },
  intent: {
    knowledge_qa: ["", "知识问答", "Knowledge"], business_query: ["", "业务查询", "Business data"], ticket: ["", "工单", "Ticket"], high_stakes: ["", "安抚与挽留", "Care"],
    human_request: ["", "请人工", "Wants a person"], chitchat: ["", "闲聊", "Small talk"], irrelevant: ["", "与业务无关", "Irrelevant"], out_of_scope: ["", "不谈的话题", "Out of scope"], nonsense: ["", "看不出问题", "Nonsense"],
  },
  kind: {
    asked: ["accent", "原话", "As asked"], rewritten: ["", "改写", "Rewritten"], spelled: ["", "改正错字", "Spelling"], translated: ["", "译成中文", "Translated"],
    in_full: ["", "简称展开", "In full"], in_context: ["", "结合前文", "In context"], part: ["", "拆开的一问", "One part"],
  },
  state: {
    open: ["accent", "待处理", "Open"], in_progress: ["accent", "处理中", "In progress"], waiting: ["warn", "等顾客", "Waiting"], resolved: ["good", "已解决", "Resolved"],
    closed: ["", "已关闭", "Closed"], reopened: ["bad", "重新打开", "Reopened"],
  },
  gap: {
    open: ["accent", "待处理", "Open"], drafted: ["", "有草稿", "Drafted"], in_review: ["warn", "待审", "In review"], approved: ["good", "已发布", "Published"],
    dismissed: ["", "不处理", "Dismissed"], merged: ["", "已合并", "Merged"], resolved: ["good", "已能回答", "Answered by now"],
  },
  miss: {
    no_evidence: ["bad", "没有依据", "No evidence"], cannot_answer: ["bad", "不能可靠回答", "Cannot answer"], clarify: ["warn", "反问", "Asked back"], low_confidence: ["warn", "不太确定", "Unsure"],
    thumbs_down: ["bad", "被踩", "Disliked"], handoff: ["accent", "转人工", "Handed off"], solution: ["good", "人工台的解答", "Answer of the desk"], ticket: ["good", "已解决的工单", "Resolved ticket"],
  },
  gapEvent: {
    drafted: ["", "起草", "Drafted"], edited: ["", "改写草稿", "Edited"], submitted: ["", "提交审核", "Submitted"], approved: ["", "审核通过", "Approved"], rejected: ["", "退回", "Sent back"], dismissed: ["", "不处理", "Dismissed"],
    reopened: ["", "重新打开", "Reopened"], merged: ["", "并入另一个缺口", "Merged"], returned: ["", "又有人问，重新打开", "Asked again"], resolved: ["", "知识库已能回答", "Answered by later knowledge"],
  },
  draftOrigin: { model: ["", "大模型起草", "A model"], solution: ["", "人工台的解答", "An answer of the desk"], ticket: ["", "工单的答复", "A ticket"], handoff: ["", "人工会话", "Words to a customer"], edited: ["", "人写的", "Somebody's own"], empty: ["", "还没有人写", "Nobody's yet"] },
  priority: { low: ["", "低", "Low"], normal: ["", "普通", "Normal"], high: ["warn", "高", "High"], urgent: ["bad", "紧急", "Urgent"] },
  category: { repair: ["", "报修", "Repair"], fault: ["", "故障", "Fault"], complaint: ["", "投诉", "Complaint"], safety: ["bad", "安全", "Safety"], request: ["", "申请", "Request"], question: ["", "咨询", "Question"], handoff: ["", "转人工", "Handoff"], other: ["", "其他", "Other"] },
  role: { admin: ["accent", "管理员", "Admin"], lead: ["accent", "组长", "Lead"], agent: ["good", "客服", "Agent"], server: ["", "自家服务器", "Server"], client: ["", "网页与应用", "Client"], metrics: ["", "只读指标", "Metrics"] },
  personState: { invited: ["warn", "待设密码", "Invited"], active: ["good", "可登录", "Active"], disabled: ["bad", "已停用", "Disabled"] },
  keyState: { valid: ["good", "可用", "Valid"], expired: ["warn", "已到期", "Ended"], revoked: ["bad", "已停用", "Revoked"] },
  scope: {
    chat: ["", "对话", "Chat"], desk: ["", "人工台与工单", "Desk and tickets"], "documents:read": ["", "知识库：只读", "Knowledge base, reading"], "documents:write": ["", "知识库：读写", "Knowledge base, writing"], evaluation: ["", "评测与质量", "Evaluation"], tuning: ["", "检索调优", "Tuning"],
    profile: ["", "助手设定", "Assistant"], jobs: ["", "定时任务", "Jobs"], webhooks: ["", "Webhook", "Webhooks"], traces: ["", "每轮怎么答的", "Traces"], observability: ["", "指标与用量", "Metrics and usage"], audit: ["", "审计日志", "Audit log"], reports: ["", "团队报表", "Team reports"],
  },
  trouble: { danger: ["bad", "有危险或高风险", "Danger"], wanted_person: ["accent", "要人工", "Wanted a person"], thumbs_down: ["bad", "被踩", "Thumbs down"], refused: ["bad", "没答上", "Refused"], unsure: ["warn", "没把握", "Unsure"], none: ["good", "顺利", "Went well"] },
  audited: { done: ["good", "做了", "Done"], refused: ["warn", "被拒绝", "Refused"], failed: ["bad", "出错", "Failed"], open: ["", "没有做完", "Not finished"] },
  delivery: { pending: ["warn", "等待重试", "Pending"], delivered: ["good", "已送达", "Delivered"], dead: ["bad", "已放弃", "Given up"] },
  file: {
    queued: ["", "排队中", "Queued"], parsing: ["accent", "解析中", "Reading"], embedding: ["accent", "计算向量", "Embedding"], indexing: ["accent", "建立索引", "Indexing"],
    ready: ["good", "可以检索", "Ready"], failed: ["bad", "没有导入", "Failed"], cancelled: ["", "已取消", "Cancelled"],
  },
  version: { draft: ["", "草稿", "Draft"], review: ["warn", "待审", "In review"], scheduled: ["accent", "定时发布", "Scheduled"], published: ["good", "已发布", "Published"], archived: ["", "已归档", "Archived"] },
  correction: { applied: ["good", "生效", "Applied"], adopted: ["", "文档已改", "In the document"], unmatched: ["warn", "未匹配", "Unmatched"] },
  issue: { contradiction: ["bad", "数字矛盾", "Contradiction"], answer_conflict: ["bad", "问答与文档矛盾", "Answer against a document"], expired: ["bad", "已过期", "Expired"], sensitive: ["bad", "敏感词", "Sensitive"], duplicate: ["warn", "近似重复", "Duplicate"], untitled: ["", "缺标题", "Untitled"], term: ["", "用词不一", "Term"], unreached: ["", "从没被检索到", "Never found"] },
  severity: { high: ["bad", "高", "High"], medium: ["warn", "中", "Medium"], low: ["", "低", "Low"] },
  turnVerdict: { correct: ["good", "正确", "Correct"], partly: ["warn", "说了一部分", "In part"], wrong: ["bad", "错误", "Wrong"] },
  effect: { worse: ["bad", "变差", "Worse"], better: ["good", "变好", "Better"], other: ["warn", "换了说法", "Other words"], same: ["", "没有变化", "Same"] },
  caseOrigin: { manual: ["", "手工", "By hand"], upload: ["", "文件", "A file"], gap: ["accent", "知识缺口", "A gap"] },
  turnKind: {
    answer: ["", "答自文档", "Answer"], business: ["", "业务数据", "Business data"], ticket: ["", "工单", "Ticket"], chat: ["", "闲聊", "Small talk"], refuse: ["", "拒答", "Refusal"],
    clarify: ["", "反问", "Asks back"], login: ["", "请先登录", "Sign-in"], care: ["", "高风险关怀", "Care"], handoff: ["", "转人工", "Handoff"], reject: ["", "拦截", "Rejection"],
  },
  issueState: { open: ["warn", "待处理", "Open"], ignored: ["", "已忽略", "Ignored"] },
  job: { queued: ["", "排队中", "Queued"], running: ["accent", "进行中", "Running"], ready: ["good", "全部完成", "Done"], partial: ["warn", "部分完成", "Partly done"], failed: ["bad", "都没有导入", "Failed"], cancelled: ["", "已取消", "Cancelled"] },
  source: { website: ["accent", "网站", "Website"], folder: ["", "文件夹", "Folder"] },
  item: {
    current: ["good", "已是文档", "Document"], duplicate: ["", "内容重复", "Duplicate"], gone: ["", "已不存在", "Gone"], excluded: ["", "不收", "Left out"], failed: ["bad", "读不出来", "Failed"], waiting: ["warn", "正在写入", "Being written"],
  },
  run: { queued: ["", "排队中", "Queued"], running: ["accent", "进行中", "Running"], done: ["good", "完成", "Done"], failed: ["bad", "失败", "Failed"], cancelled: ["", "已取消", "Cancelled"] },
  stage: {
    guard: ["", "检查消息", "Guard"], history: ["", "读对话", "History"], cache: ["", "查缓存", "Cache"], embed: ["", "计算向量", "Embedding"], screen: ["", "安全筛查", "Screening"], route: ["", "判断意图", "Routing"],
    understand: ["", "理解（大模型）", "Understanding"], vector: ["", "按意思召回", "Vector recall"], bm25: ["", "按字词召回", "Keyword recall"], fuse: ["", "合并", "Fusion"], rerank: ["", "重排", "Reranking"],
    gate: ["", "过门槛", "Gate"], generate: ["", "写回答", "Writing"], verify: ["", "核对", "Verifying"], persist: ["", "保存", "Saving"], total: ["", "总共", "Total"],
  },
  event: {
    request: ["", "请求人工", "Asked for a person"], request_after_hours: ["", "在服务时间外请求人工", "Asked for a person after hours"], open: ["", "到了服务时间", "Hours began"],
    accept: ["", "客服接入", "Accepted"], transfer: ["", "转给同事", "Transferred"], requeue: ["", "退回队列", "Put back in the queue"], release: ["", "放回队列", "Released"],
    resolve: ["", "解决", "Resolved"], leave: ["", "退出排队", "Left the queue"], close: ["", "结束", "Closed"], expire: ["", "等待超时", "Expired"], return: ["", "交还智能客服", "Back to the assistant"],
  },
  desk: {
    bot: ["", "智能客服", "Assistant"], queued: ["warn", "排队等人工", "Queued"], out_of_hours: ["warn", "等服务时间", "Out of hours"], assigned: ["accent", "人工接待中", "With a person"],
    resolved: ["good", "人工已解决", "Resolved"], closed: ["", "已结束", "Closed"],
  },
  origin: { conversation: ["", "顾客在对话里登记", "The customer, in a conversation"], desk: ["", "没有客服在线时请求人工", "Wanted a person while nobody was there"], staff: ["", "客服登记", "Staff"] },
  history: { created: ["", "登记", "Created"], updated: ["", "修改", "Changed"], comment: ["", "备注", "Comment"], transition: ["", "改变状态", "Moved"], urged: ["warn", "顾客催办", "Urged"], erased: ["", "已抹去", "Erased"] },
  why: {
    "asks for one, or answers a proposal": ["", "要建工单，或在回答确认", "Asks for a ticket, or answers a proposal"], "asks for one": ["", "要建工单", "Asks for a ticket"], "is like a request to act": ["", "像是要求办事", "Like a request to act"],
    "names rows of the customer's own": ["", "提到了本人的单号等", "Names rows of their own"], "is like a question about own data": ["", "像是在问本人的数据", "Like a question about own data"],
    "speaks of ending their life": ["", "说到轻生", "Speaks of ending their life"], "in danger, or beside themselves": ["", "有危险，或情绪失控", "In danger, or beside themselves"], "high stakes": ["", "退订、争议或投诉", "High stakes"], "like a danger, and nothing is found": ["", "像是有危险，又没有找到依据", "Like a danger, and nothing is found"],
    "like a complaint, and nothing is found": ["", "像是在投诉，又没有找到依据", "Like a complaint, and nothing is found"],
    found: ["", "最好的片段有这么大把握", "The surest passage"], "nothing found": ["", "没有找到片段", "Nothing found"],
    "asks for a person": ["", "要求人工", "Asks for a person"], "names one, and is like a request": ["", "提到人工，像是在要求", "Names a person, like a request"], "is like a request": ["", "像是在要求人工", "Like a request for a person"],
    "in so many words": ["", "说得很明白", "In so many words"], "surely not ours, and nothing is found": ["", "肯定与业务无关，也没有找到依据", "Surely not ours, and nothing is found"], "like nothing to look up": ["", "像是不需要查资料", "Like nothing to look up"],
  },
  degraded: {
    embedding: ["", "向量召回", "Vector recall"], calibration: ["", "门槛校准", "Calibration of the gate"], provisional: ["", "门槛还在校准", "Gate still being calibrated"], page: ["", "顾客所在的网页", "The customer's page"], rerank: ["", "重排模型", "Reranker"], reader: ["", "大模型把门", "Model in the gate"],
    llm: ["", "大模型", "Language model"], budget: ["", "大模型预算用完", "Model budget used up"], understanding: ["", "大模型理解", "Model's understanding"], ungrounded: ["", "没有依据的话已换成原文", "Ungrounded words, replaced by quotes"], business: ["", "业务数据", "Business data"],
  },
  rejection: { empty: ["", "空消息", "Empty"], too_long: ["", "太长", "Too long"], repetition: ["", "重复的字", "Repetition"], override: ["", "要它不守规则", "Overrides the rules"], extraction: ["", "套取提示词", "Asks for the prompt"], persona: ["", "要它扮演别的角色", "Another persona"], steering: ["", "操纵回答", "Steers the answer"], payload: ["", "夹带代码", "A payload"], transcript: ["", "伪造对话", "A forged conversation"], suspicious: ["", "疑似攻击", "Suspicious"] },
  limit: {
    key: ["", "一把密钥", "One key"], tenant: ["", "全部顾客", "All customers"], address: ["", "一个网络地址", "One address"], session: ["", "一个会话", "One conversation"], sign_in: ["", "登录", "Sign-in"], handoff: ["", "请求人工", "Requests for a person"], ticket: ["", "工单", "Tickets"],
    queue_full: ["", "排队已满", "Queue full"], streams: ["", "同时的回答", "Answers at once"], sockets: ["", "同时的连接", "Connections at once"], queue_timeout: ["", "排队太久", "Waited too long"], channel: ["", "渠道", "Channel"],
  },
  jobKind: {
    quality_check: ["", "知识库质量检查", "Quality check of the knowledge base"], gap_mining: ["", "知识缺口挖掘", "Mining of gaps"], source_sync: ["", "同步数据来源", "Sync of sources"], evaluation: ["", "评测", "Evaluation"], reindex: ["", "重建索引", "Rebuilding the index"], index_verification: ["", "索引校验与修复", "Checking and repairing the index"], reread: ["", "重新读取文档", "Reading documents anew"],
    tuner_calibration: ["", "门槛校准", "Calibration of the gate"], tuner_sweep: ["", "参数扫描", "Sweep of parameters"], tuner_judgement: ["", "大模型出题校准", "Calibration by a model"],
    desk: ["", "人工坐席：超时与提醒", "Desk: time limits and reminders"], validity: ["", "文档生效与失效", "Documents coming into and out of force"], publishing: ["", "定时发布", "Scheduled publishing"], model: ["", "跟上别处接的大模型", "Following a model connected elsewhere"], generations: ["", "跟上别处重建的索引", "Following an index rebuilt elsewhere"], series: ["", "保存指标曲线", "Keeping the metrics"],
    keys: ["", "保存密钥的使用时间", "Keeping when keys were used"], jobs: ["", "安排到时间的任务", "Starting jobs that are due"], sources: ["", "安排到时间的来源同步", "Starting syncs that are due"], calibration: ["", "检索校准", "Calibration of retrieval"], retention: ["", "清理过期数据", "Deleting what is past its time"], attachments: ["", "删除已清除的图片和文件", "Deleting erased pictures and files"],
  },
  jobParameter: { embedder: ["", "改用的向量模型；不选则用现在的，只重建索引", "Embedder to change to; without one the index is rebuilt by the present one"] },
  parameter: {
    vector_top_k: ["", "向量召回条数", "Passages by vectors"], bm25_top_k: ["", "关键词召回条数", "Passages by keywords"], rrf_k: ["", "融合常数 k", "Constant k of fusion"], rrf_vector_weight: ["", "向量召回的权重", "Weight of vectors"], rrf_keyword_weight: ["", "关键词召回的权重", "Weight of keywords"], rerank_top_k: ["", "重排后保留的条数", "Passages kept after re-ranking"], rerank_candidates: ["", "交叉编码器最多看的候选数", "Candidates that a cross-encoder reads"],
    similarity_threshold: ["", "回答门槛", "Threshold to answer"], confident_threshold: ["", "把握门槛", "Threshold to be sure"], clarify_threshold: ["", "反问门槛", "Threshold to ask back"], min_surviving_chunks: ["", "至少几个片段过门槛", "Passages that have to pass"], page_boost: ["", "所在页面的加分", "Bonus of the customer's page"], hot_cache_max_size: ["", "热点回答缓存的条数", "Answers in the cache"], hot_cache_ttl: ["", "热点回答缓存的秒数", "Seconds an answer is cached"], retrieval_cache_max_size: ["", "检索缓存的条数", "Searches in the cache"], retrieval_cache_ttl: ["", "检索缓存的秒数", "Seconds a search is cached"],
  },
  who: { customer: ["", "顾客", "Customer"], bot: ["", "智能客服", "Assistant"], staff: ["", "客服", "Staff"], system: ["", "系统", "System"], local: ["", "本机（未登录）", "This machine (not signed in)"] },
  reason: { asked: ["", "顾客要求人工", "The customer asked"], high_stakes: ["", "高风险", "High stakes"], emotion: ["", "情绪激烈", "Strong feelings"], no_answer: ["", "没能答上来", "No answer found"] },
};
const catalogue = { zh: {}, en: {} };
for (const [kind, values] of Object.entries(NAMES)) {
  for (const [value, [, zh, en]] of Object.entries(values)) Object.assign(catalogue.zh, { [`${kind}.${value}`]: zh }), Object.assign(catalogue.en, { [`${kind}.${value}`]: en });
}
const t = words(catalogue);

// A value that is newer than this page is shown as it is.
export const named = (kind, value) => (NAMES[kind][value] ? t(`${kind}.${value}`) : value);
export const toneOf = (kind, value) => NAMES[kind][value]?.[0] || "";
export const options = (kind) => Object.keys(NAMES[kind]).map((value) => [value, named(kind, value)]);
export const Named = ({ kind, value }) => html`<${Tag} tone=${toneOf(kind, value)}>${named(kind, value)}<//>`;
// Why a gap is one, and how often for each reason.
export const Reasons = ({ gap }) => html`<span class="yd-row yd-wrap">${Object.entries(gap.reasons).map(([reason, count]) => html`<${Tag} tone=${toneOf("miss", reason)}>${named("miss", reason)} ${number(count)}<//>`)}</span>`;
