// What the product's own words for states are called here, and how they look.
import { Tag, html } from "../shared/ui.js";
import { words } from "../shared/i18n.js";

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
    in_context: ["", "结合前文", "In context"], part: ["", "拆开的一问", "One part"],
  },
  state: {
    open: ["accent", "待处理", "Open"], in_progress: ["accent", "处理中", "In progress"], waiting: ["warn", "等顾客", "Waiting"], resolved: ["good", "已解决", "Resolved"],
    closed: ["", "已关闭", "Closed"], reopened: ["bad", "重新打开", "Reopened"],
  },
  priority: { low: ["", "低", "Low"], normal: ["", "普通", "Normal"], high: ["warn", "高", "High"], urgent: ["bad", "紧急", "Urgent"] },
  category: { repair: ["", "报修", "Repair"], fault: ["", "故障", "Fault"], complaint: ["", "投诉", "Complaint"], request: ["", "申请", "Request"], handoff: ["", "转人工", "Handoff"], other: ["", "其他", "Other"] },
  role: { admin: ["accent", "管理员", "Admin"], agent: ["good", "客服", "Agent"], server: ["", "自家服务器", "Server"], client: ["", "网页与应用", "Client"], metrics: ["", "只读指标", "Metrics"] },
  delivery: { pending: ["warn", "等待重试", "Pending"], delivered: ["good", "已送达", "Delivered"], dead: ["bad", "已放弃", "Given up"] },
  file: {
    queued: ["", "排队中", "Queued"], parsing: ["accent", "解析中", "Reading"], embedding: ["accent", "计算向量", "Embedding"], indexing: ["accent", "建立索引", "Indexing"],
    ready: ["good", "可以检索", "Ready"], failed: ["bad", "没有导入", "Failed"], cancelled: ["", "已取消", "Cancelled"],
  },
  job: { queued: ["", "排队中", "Queued"], running: ["accent", "进行中", "Running"], ready: ["good", "全部完成", "Done"], partial: ["warn", "部分完成", "Partly done"], failed: ["bad", "都没有导入", "Failed"], cancelled: ["", "已取消", "Cancelled"] },
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
  who: { customer: ["", "顾客", "Customer"], bot: ["", "智能客服", "Assistant"], staff: ["", "客服", "Staff"], system: ["", "系统", "System"] },
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
